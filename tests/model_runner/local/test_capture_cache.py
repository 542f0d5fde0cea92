"""The cache keeps the most recently used captures within its byte budget."""

from __future__ import annotations

import torch

from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture
from model_runner.local.capture_cache import CaptureCache
from model_runner.request import CaptureRequest


def _capture(name: str, floats: int) -> Capture:
    """Weighs four bytes a float and nothing else."""
    return Capture(
        request=CaptureRequest(text=name),
        tokens=(),
        kinds=(),
        records=(),
        residuals=(),
        hidden=torch.zeros(1, floats),
    )


def _put(cache: CaptureCache, name: str, floats: int = 25) -> Capture:
    capture = _capture(name, floats)
    cache.put(capture.request, capture)
    return capture


def _held(cache: CaptureCache, names: str) -> str:
    """Which of these are in the cache; asking makes them the last used, in this order."""
    return "".join(name for name in names if cache.get(CaptureRequest(text=name)) is not None)


def test_what_was_put_is_given_back_and_nothing_else() -> None:
    cache = CaptureCache(ByteBudgetCache(1000))
    a = _put(cache, "a")
    assert cache.get(CaptureRequest(text="a")) is a
    assert cache.get(CaptureRequest(text="b")) is None
    assert cache.get(CaptureRequest(text="a", dtype="bfloat16")) is None


def test_the_bytes_held_are_those_of_the_captures() -> None:
    cache = CaptureCache(ByteBudgetCache(1000))
    _put(cache, "a", floats=10)
    _put(cache, "b", floats=20)
    assert cache.nbytes == 120
    _put(cache, "b", floats=30)  # in place of the other
    assert cache.nbytes == 160


def test_the_oldest_goes_when_the_bytes_run_out() -> None:
    cache = CaptureCache(ByteBudgetCache(300))
    for name in "abc":
        _put(cache, name)
    assert cache.nbytes == 300  # just full
    _put(cache, "d")
    assert _held(cache, "abcd") == "bcd"
    _put(cache, "e", floats=50)
    assert _held(cache, "abcde") == "de"
    assert cache.nbytes <= 300


def test_what_is_used_again_stays_longer() -> None:
    cache = CaptureCache(ByteBudgetCache(300))
    for name in "abc":
        _put(cache, name)
    cache.get(CaptureRequest(text="a"))
    _put(cache, "d")
    assert _held(cache, "abcd") == "acd"


def test_what_is_put_again_stays_longer() -> None:
    cache = CaptureCache(ByteBudgetCache(300))
    for name in "abca":
        _put(cache, name)
    _put(cache, "d")
    assert _held(cache, "abcd") == "acd"


def test_a_capture_larger_than_the_cache_is_not_kept_and_costs_no_other_its_place() -> None:
    cache = CaptureCache(ByteBudgetCache(300))
    _put(cache, "a")
    _put(cache, "b")
    _put(cache, "x", floats=76)
    assert _held(cache, "abx") == "ab"
    _put(cache, "y", floats=75)  # fills it to the last byte
    assert _held(cache, "aby") == "y"
