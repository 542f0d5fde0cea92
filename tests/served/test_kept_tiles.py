"""Tiles of a few captures are cached: the oldest are evicted first, and nothing of an evicted capture remains."""

from __future__ import annotations

import gc

from model_runner import Capture, CaptureRequest, load_runner
from served.kept_tiles import CAPTURES, KeptTiles


def captures(count: int) -> list[Capture]:
    runner = load_runner("default")
    return [runner.capture(CaptureRequest("the cat sat" + " again" * number)) for number in range(count)]


def test_the_newest_stay_and_the_first_that_came_goes():
    kept, every = KeptTiles(), captures(CAPTURES + 1)
    made = [kept.of(one) for one in every]
    assert [kept.of(one) is tiles for one, tiles in zip(every[1:], made[1:], strict=True)] == [True] * CAPTURES
    assert kept.of(every[0]) is not made[0]


def test_the_tiles_do_not_keep_their_capture():
    kept, runner = KeptTiles(), load_runner("default")
    kept.of(runner.capture(CaptureRequest("the cat sat")))
    assert len(kept._held) == 1
    runner.forget()
    gc.collect()
    assert len(kept._held) == 0
