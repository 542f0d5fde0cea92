"""The computed cache of a growing text equals transformers' own cache of the longer text."""

from __future__ import annotations

import pytest

from analysis.cache_growth import CacheGrowth, growth_of
from model_runner import CaptureRequest
from model_runner.kv import CachedLayer
from model_runner.questions import CacheLayers
from tests.model_runner.cases import shared_runner
from tests.model_runner.local.recording.test_encoder_decoders import runner as of_two

LONGEST = "The dog chased the squirrel because it was hungry, and it ran."


def layers(runner, text, **more):
    return runner.submit(CacheLayers(CaptureRequest(text, **more))).result()


def held(found):
    return sum(layer.n_bytes for layer in found)


@pytest.mark.parametrize(
    "name", ["llama", "gpt2", "mistral", "gemma2", "gpt-oss", "deepseek-v3", "qwen3-next", "jamba"]
)
def test_the_start_of_a_text_tells_the_cache_of_all_of_it(name):
    runner = shared_runner(name)
    for start in (1, 5, len(LONGEST)):  # before and after windows are full
        found = growth_of(layers(runner, LONGEST[:start]))
        for count in (1, 2, 9, len(LONGEST)):
            assert found.at(count) == held(layers(runner, LONGEST[:count])), (start, count)
        assert (found.fixed, found.read) == (0, 0)


@pytest.mark.parametrize("name", ["bart", "deep decoder"])
def test_what_an_encoder_read_stays(name):
    runner = of_two(name)

    def both(target):
        return [layers(runner, "two dogs", target=target, attention=one) for one in ("decoder", "cross")]

    found = growth_of(*both(""))
    assert found.shape is None
    assert found.read == 8  # bytes of the text
    for target in ("", "E", "Eine Katze"):
        assert found.at(1 + len(target)) == sum(map(held, both(target)))


def test_the_formula_is_there_where_all_layers_keep_every_token_alike():
    found = growth_of(layers(shared_runner("llama"), "hello"))
    assert found.shape is not None
    n_layers, kv_heads, d_head, size = found.shape
    assert found.at(7) == 2 * n_layers * kv_heads * d_head * size * 7
    assert growth_of(layers(shared_runner("mistral"), "hello")).shape is None  # a window
    assert growth_of(layers(shared_runner("deepseek-v3"), "hello")).shape is None  # values are shorter than keys


def test_layers_without_keys_of_their_own_hold_none():
    shared = CachedLayer(1, None, None, 0, None, 64)
    empty = CachedLayer(2, (2, 0, 4), (2, 0, 4), 0, None, 0)
    own = CachedLayer(0, (2, 3, 4), (2, 3, 4), 192, None, 0)
    assert growth_of([own, shared, empty]) == CacheGrowth(((64, None),), (1, 2, 4, 4))
