"""Bytes of keys and values: the formula against real caches, and the size of changed caches."""

from __future__ import annotations

import pytest

from analysis.kv_bytes import bytes_read, cache_bytes, sharings
from model_runner import CaptureRequest, load_runner
from model_runner.local.runner import LocalRunner
from model_runner.questions import CacheLayers
from tests.model_runner.cases import TEXT, shared_runner
from tests.model_runner.families import FAMILIES, WINDOW, often
from tests.model_runner.tiny import D_HEAD, N_HEADS, N_LAYERS, byte_tokenizer, tiny

N = len(byte_tokenizer()(TEXT).input_ids)
ENCODERS = ("bert", "roberta", "distilbert", "modernbert", "albert")
CAUSAL = [family.name for family in FAMILIES if family.name not in ENCODERS]


def both(name: str, text: str = TEXT):
    runner = shared_runner(name)
    return runner.capture(CaptureRequest(text)), runner.submit(CacheLayers(CaptureRequest(text))).result()


@pytest.mark.table
@pytest.mark.parametrize("text", ["ab", TEXT])
@pytest.mark.parametrize("name", often(CAUSAL))
def test_the_formula_gives_the_measured_bytes_in_every_family(name, text):
    found = cache_bytes(*both(name, text))
    assert found.measured == found.formula > 0


def test_the_embedded_model_is_2_layers_kv_heads_d_head_tokens_bytes():
    runner = load_runner("default")
    request = CaptureRequest("The dog chased the squirrel because it")
    found = cache_bytes(runner.capture(request), runner.submit(CacheLayers(request)).result())
    assert found.shape == (8, 4, 32, 8, 4)
    assert found.measured == 2 * 8 * 4 * 32 * 8 * 4


def test_a_window_bounds_the_bytes_and_layers_may_differ():
    assert cache_bytes(*both("mistral")).shape == (N_LAYERS, 2, D_HEAD, WINDOW - 1, 4)
    assert cache_bytes(*both("gemma2")).shape is None


def test_a_latent_is_one_vector_for_all_heads():
    capture, layers = both("deepseek-v3")
    found = cache_bytes(capture, layers)
    assert (found.latent, found.measured) == (12 + 4, N_LAYERS * (12 + 4) * N * 4)  # kv_lora_rank and the rotated part
    shared = {one.kind(N_HEADS): one.n_bytes for one in sharings(capture, found)}
    assert shared == {
        "MHA": N_LAYERS * 4 * (12 + 10) * N * 4,
        "GQA": N_LAYERS * 2 * (12 + 10) * N * 4,
        "MQA": N_LAYERS * (12 + 10) * N * 4,
        "MLA": found.measured,
    }


def test_other_layers_hold_something_that_does_not_grow():
    short, long = (cache_bytes(*both("qwen3-next", text)) for text in (TEXT, TEXT + TEXT))
    assert short.states == long.states > 0
    assert long.measured == 2 * short.measured


def test_layers_that_read_the_cache_of_another_hold_nothing():
    runner = LocalRunner(gemma4_of_shared_caches(), byte_tokenizer(), name="gemma4")
    capture, layers = runner.capture(CaptureRequest(TEXT)), runner.submit(CacheLayers(CaptureRequest(TEXT))).result()
    found = cache_bytes(capture, layers)
    assert found.measured == found.formula == 2 * 2 * 16 * ((WINDOW - 1) + N) * 4  # a window's layer and a full one
    assert (len(layers), sum(layer.k_shape is not None for layer in layers)) == (N_LAYERS, 2)


def gemma4_of_shared_caches():
    kinds = ["sliding_attention", "full_attention", "full_attention"]
    return tiny(
        "gemma4_text", layer_types=kinds, num_kv_shared_layers=1, sliding_window=WINDOW, num_key_value_heads=2,
        head_dim=16, per_layer_config={}, hidden_size_per_layer_input=8, vocab_size_per_layer_input=264,
    )()  # fmt: skip


def test_sharing_goes_from_every_head_its_own_to_one_for_all():
    capture, layers = both("llama")
    found = sharings(capture, cache_bytes(capture, layers))
    per_head = 2 * N_LAYERS * D_HEAD * N * 4
    assert [(one.kind(N_HEADS), one.kv_heads, one.n_bytes, one.own) for one in found] == [
        ("MHA", 4, 4 * per_head, False),
        ("GQA", 2, 2 * per_head, True),
        ("MQA", 1, per_head, False),
    ]


@pytest.mark.parametrize("window, sinks, rows", [(None, 0, N), (5, 0, 5), (5, 2, 7), (N, 3, N), (1, 0, 1)])
def test_a_cache_that_drops_holds_the_window_and_the_sinks(window, sinks, rows):
    made = both("llama")
    assert bytes_read(*made, window=window, sinks=sinks) == N_LAYERS * 2 * (D_HEAD + D_HEAD) * 4 * rows


def test_a_layers_own_window_stays():
    made = both("mistral")
    row = N_LAYERS * 2 * (D_HEAD + D_HEAD) * 4
    assert bytes_read(*made) == row * (WINDOW - 1)
    assert bytes_read(*made, window=3) == row * 3
    assert bytes_read(*made, window=3, sinks=2) == row * 3  # the layer's own mask hides the sinks


def test_int8_takes_a_byte_a_number_and_a_scale_a_row():
    made = both("llama")
    assert bytes_read(*made, int8=True) == N_LAYERS * 2 * N * (D_HEAD + 4 + D_HEAD + 4)
