"""The cache's content and changed caches, against transformers' caches that are really changed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import DynamicCache

from model_runner import CaptureRequest, load_runner
from model_runner.edits import Int8Cache, KeepLast
from model_runner.local.generation import empty_cache
from model_runner.local.runner import LocalRunner
from model_runner.questions import CacheLayers, NextLogits
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.families import WINDOW
from tests.model_runner.tiny import D_HEAD, byte_tokenizer, tiny

CLOSE = 1e-5  # float32, see tests/model_runner/cases.py
LONGER = "When Mary and John went to the store, John gave a drink to"
FULL_ATTENTION = ["llama", "qwen3", "gpt2", "gpt-neox", "phi"]  # whose cache may be cut by hand


def embedded() -> LocalRunner:
    return load_runner("default")


def ids_of(runner: LocalRunner, text: str) -> list[int]:
    return runner.engine.tokenizer(text)["input_ids"]


def fed_one_by_one(model: Any, ids: list[int], cache: DynamicCache, after: Any = lambda cache: None) -> Tensor:
    """The logits after the last token; ``after`` may change the cache between two tokens."""
    logits = torch.empty(0)
    for position, token in enumerate(ids):
        place = torch.tensor([[position]])
        with torch.no_grad():
            output = model(
                input_ids=torch.tensor([[token]]), position_ids=place, past_key_values=cache, use_cache=True
            )  # fmt: skip
        logits = output.logits[0, -1].float()
        after(cache)
    return logits


def dropping(window: int, sinks: int) -> Any:
    """Drop what the next token must not see: it is the newest of ``window``, and the first ``sinks`` stay."""

    def drop(cache: DynamicCache) -> None:
        for layer in cache.layers:
            for name in ("keys", "values"):
                held = getattr(layer, name)
                length = held.shape[2]
                stay = [place for place in range(length) if place < sinks or place > length - window]
                setattr(layer, name, held[:, :, stay])

    return drop


@pytest.mark.parametrize("window, sinks", [(1, 0), (2, 0), (5, 0), (1, 1), (4, 2), (6, 4)])
@pytest.mark.parametrize("name", FULL_ATTENTION)
def test_keep_last_equals_dropping_rows_of_a_real_cache_token_by_token(name, window, sinks):
    runner = runner_of(FAMILY[name])
    logits = runner.submit(NextLogits(CaptureRequest(TEXT, edits=(KeepLast(window, sinks),)))).result()
    expected = fed_one_by_one(FAMILY[name].build(), ids_of(runner, TEXT), DynamicCache(), dropping(window, sinks))
    assert (logits - expected).abs().max() <= CLOSE


@pytest.mark.parametrize("window, sinks", [(1, 0), (3, 0), (1, 1), (3, 1), (6, 4)])
def test_keep_last_on_the_embedded_model_equals_dropping_rows_of_its_real_cache(window, sinks):
    runner = embedded()
    logits = runner.submit(NextLogits(CaptureRequest(LONGER, edits=(KeepLast(window, sinks),)))).result()
    plain = runner.submit(NextLogits(CaptureRequest(LONGER))).result()
    expected = fed_one_by_one(runner.engine.model, ids_of(runner, LONGER), DynamicCache(), dropping(window, sinks))
    # Its logits reach 30, and sums of rounded numbers differ by a few units of their last place: 30 · 2⁻²² = 7e-6
    apart = (logits.log_softmax(-1) - expected.log_softmax(-1)).abs().max()
    assert apart <= 1e-4
    assert (logits.softmax(-1) - expected.softmax(-1)).abs().max() <= CLOSE
    assert (plain - logits).abs().max() > 0.1  # it does change something


class RoundingCache(DynamicCache):
    """A cache that stores every key and value in int8 and gives them back from there, number by number."""

    def update(self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any) -> Any:
        return super().update(rounded(key_states), rounded(value_states), layer_idx, *args, **kwargs)


def rounded(x: Tensor) -> Tensor:
    rows = []
    for row in x.reshape(-1, x.shape[-1]).tolist():
        largest = max(map(abs, row))
        rows.append([largest / 127 * round(number * 127 / largest) if largest else 0.0 for number in row])
    return torch.tensor(rows).reshape(x.shape)


@pytest.mark.parametrize("name", FULL_ATTENTION)
def test_int8_equals_rounding_the_rows_of_a_real_cache(name):
    runner = runner_of(FAMILY[name])
    logits = runner.submit(NextLogits(CaptureRequest(TEXT, edits=(Int8Cache(),)))).result()
    expected = fed_one_by_one(FAMILY[name].build(), ids_of(runner, TEXT), RoundingCache())
    assert (logits - expected).abs().max() <= CLOSE
    plain = runner.submit(NextLogits(CaptureRequest(TEXT))).result()
    assert (plain - logits).abs().max() > 1e-4  # it does change something


@pytest.mark.parametrize("name", ["llama", "mistral", "gemma2", "gpt2", "deepseek-v3", "qwen3-next", "bert"])
@pytest.mark.parametrize("edit", [None, KeepLast(3, sinks=1), Int8Cache()], ids=["plain", "window", "int8"])
def test_the_logits_are_those_of_a_capture_with_the_same_edits(name, edit):
    runner = runner_of(FAMILY[name])
    request = CaptureRequest(TEXT, edits=() if edit is None else (edit,))
    logits = runner.submit(NextLogits(request)).result()
    assert (logits - runner.capture(request).logits(-1)).abs().max() <= CLOSE


def test_nothing_of_a_trial_stays_in_the_cache_of_captures():
    runner = runner_of(FAMILY["llama"])
    runner.submit(NextLogits(CaptureRequest(TEXT, edits=(KeepLast(3),)))).result()
    runner.submit(CacheLayers(CaptureRequest(TEXT))).result()
    assert runner.engine.cache.nbytes == 0


@pytest.mark.parametrize("name", ["llama", "mistral", "gemma2", "deepseek-v3", "gpt2", "gpt-bigcode", "qwen3-next"])
def test_the_layers_are_what_transformers_own_cache_holds_after_generating_from_the_text(name):
    runner, ids = runner_of(FAMILY[name]), torch.tensor([byte_tokenizer()(TEXT).input_ids])
    found = runner.submit(CacheLayers(CaptureRequest(TEXT))).result()
    model = FAMILY[name].build()
    cache = empty_cache(model)
    with torch.no_grad():
        model(input_ids=ids, past_key_values=cache, use_cache=True)
    assert len(found) == len(cache.layers) == 3
    held: Any
    for layer, held in zip(found, cache.layers, strict=True):
        tensors = [held.keys, held.values] if layer.k_shape is not None else []
        numbers = sum(tensor.numel() for tensor in tensors)
        assert layer.n_bytes == 4 * numbers
        if layer.k_shape is not None:
            assert [layer.k_shape, layer.v_shape] == [tuple(tensor.shape[1:]) for tensor in tensors]
        else:
            assert layer.state_bytes > 0


def test_a_layer_with_a_window_keeps_one_token_less_than_it_looks_back():
    found = runner_of(FAMILY["mistral"]).submit(CacheLayers(CaptureRequest(TEXT))).result()
    assert [layer.window for layer in found] == [WINDOW] * 3
    assert [layer.k_shape for layer in found] == [(2, WINDOW - 1, D_HEAD)] * 3


def test_bytes_follow_the_dtype():
    model = tiny("llama")().to(torch.bfloat16)
    runner = LocalRunner(model, byte_tokenizer(), name="llama")
    found = runner.submit(CacheLayers(CaptureRequest("abcd"))).result()
    assert [layer.n_bytes for layer in found] == [2 * 4 * 4 * D_HEAD * 2] * 3  # k and v, heads, tokens, d, bytes
