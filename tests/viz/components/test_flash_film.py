"""FlashAttention's film: every row ends as softmax of the model's own head, and every byte is counted."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest
import torch

from analysis.flash_film import flash_film, row_sums
from analysis.zoo import captured_head
from attention.flash_blocks import Blocks, tiled
from attention.zoo.head import Head
from model_runner import CaptureRequest, load_runner
from model_runner.errors import NotSeparable
from tests.node import run_module
from viz.components.flash_film.flash_film import TEXTS, FlashFilmPicture

TILES = "./viz/components/flash_film/tiles.js"
TEXT = "The dog chased the squirrel because it was fast"
# What the scripts make of a head: each row after each of its tiles, all frames, and what plain softmax gives.
PLAYED = f"""
import {{ doneOf, heldAt, metBy, movesOf, reelOf, softmaxRow, sumsOf }} from "{TILES}"
const [work, plan, rows] = given
work.scores = work.scores.map((value) => value ?? -Infinity)
const reel = reelOf(work, plan)
const sums = sumsOf(work, plan, reel.seen)
const frames = reel.kind.map((kind, at) => (
  {{ kind, i: reel.i[at], j: reel.j[at], moves: movesOf(reel, at), held: heldAt(reel, at) }}))
const lastOf = (row) => row * sums.across + (reel.seen[Math.floor(row / plan.rows)].length - 1)
const whole = rows.map((row) => softmaxRow(work, row))
const plain = (met) => ({{ ...met, output: [...met.output], before: null }})
answer({{
  frames, read: reel.read, written: reel.written, seen: reel.seen, done: doneOf(reel, reel.kind.length - 1),
  rows: rows.map((row) => metBy(work, plan, reel.seen, row).map(plain)),
  last: rows.map((row) => [sums.max[lastOf(row)], sums.sum[lastOf(row)]]),
  softmax: whole.map((one) => ({{ shares: [...one.shares], output: [...one.output] }})),
}})"""


@functools.cache
def head(model: str = "default") -> Head:
    return captured_head(load_runner(model).capture(CaptureRequest(text=TEXT)), 3, 3)


def played(scores: np.ndarray, v: np.ndarray, rows: int, columns: int, order: str, sink: float | None = None) -> Any:
    """The film of these numbers, as the scripts make it."""
    n, width = v.shape
    flat = [None if math.isinf(value) else value for value in scores.ravel().tolist()]
    work = {"n": n, "d": width, "dv": width, "scores": flat, "v": v.ravel().tolist(), "sink": sink}
    return run_module(PLAYED, [work, {"rows": rows, "columns": columns, "order": order}, list(range(n))])


def loops(scores: np.ndarray, v: np.ndarray, row: int, sink: float | None = None) -> tuple[list[float], list[float]]:
    """A row's shares and output in float64, a number at a time."""
    top = max(*scores[row].tolist(), -math.inf if sink is None else sink)
    exps = [0.0 if value == -math.inf else math.exp(value - top) for value in scores[row].tolist()]
    total = math.fsum(exps) + (0.0 if sink is None else math.exp(sink - top))
    shares = [one / total for one in exps]
    output = [math.fsum(share * v[key, x] for key, share in enumerate(shares)) for x in range(v.shape[1])]
    return shares, output


@pytest.mark.parametrize("order", ["keys", "queries"])
@pytest.mark.parametrize("model, rows, columns", [("default", 3, 2), ("default", 1, 4), ("encoder", 4, 3)])
def test_every_row_of_the_models_own_head_ends_as_softmax(model, rows, columns, order):
    scores, v = head(model).scores.numpy(), head(model).v.numpy()
    found = played(scores, v, rows, columns, order)
    for row, tiles in enumerate(found["rows"]):
        shares, output = loops(scores, v, row)
        np.testing.assert_allclose(tiles[-1]["output"], output, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found["softmax"][row]["output"], output, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found["softmax"][row]["shares"], shares, rtol=0, atol=1e-12)
        top, total = found["last"][row]
        assert math.exp(scores[row].max() - top) / total == pytest.approx(max(shares), abs=1e-12)
        for tile in tiles:  # on the way it is softmax of the keys met so far
            met = np.where(np.arange(len(v)) < tile["stop"], scores[row], -np.inf)
            np.testing.assert_allclose(tile["output"], loops(met[None], v, 0)[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("sink", [-2.0, 9.0])
def test_a_sink_takes_its_share_at_the_end(sink):
    scores, v = head().scores.numpy(), head().v.numpy()
    found = played(scores, v, 2, 2, "keys", sink)
    for row, tiles in enumerate(found["rows"]):
        np.testing.assert_allclose(tiles[-1]["output"], loops(scores, v, row, sink)[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", ["keys", "queries"])
@pytest.mark.parametrize("model", ["default", "encoder"])
def test_the_frames_move_what_the_formula_says_and_hold_what_was_read(model, order):
    v = head(model).v.numpy()
    n, d = v.shape
    for rows, columns in ((3, 2), (1, 1), (4, 20)):
        found = played(head(model).scores.numpy(), v, rows, columns, order)
        expected = tiled(n, d, d, Blocks(rows, columns), order, causal=model == "default")
        assert (found["read"][-1], found["written"][-1]) == (expected.read, expected.written)
        assert found["done"] == [len(tiles) for tiles in found["seen"]]
        here: set[tuple[str, int, int]] = set()
        for frame in found["frames"][1:]:
            here |= {(one["name"], one["first"], one["stop"]) for one in frame["moves"] if one["way"] == "read"}
            held = {(one["name"], one["first"], one["stop"]) for one in frame["held"]}
            made = {one for one in held if one[0] == "S" or (order == "queries" and one[0] in "Oml")}
            assert held - made <= here  # nothing is in SRAM that was not read or made there
            here = held | made


def test_tiles_come_in_the_order_of_each_paper():
    scores, v = head("encoder").scores.numpy()[:4, :4], head("encoder").v.numpy()[:4]
    for order, expected in (("keys", [(0, 0), (1, 0), (0, 1), (1, 1)]), ("queries", [(0, 0), (0, 1), (1, 0), (1, 1)])):
        frames = played(scores, v, 2, 2, order)["frames"]
        assert [(one["i"], one["j"]) for one in frames if one["kind"] == 2] == expected


def test_a_row_that_sees_no_key_stays_zero_and_a_hidden_tile_is_skipped():
    scores = np.full((4, 4), -np.inf)
    scores[2, 0], scores[3, 3] = 1.0, 2.0
    found = played(scores, np.ones((4, 2)), 2, 2, "keys")
    assert found["seen"] == [[], [0, 1]]
    assert found["rows"][0] == []
    assert [tile["output"] for tile in found["rows"][3]] == [[0, 0], [1, 1]]


def test_the_tables_sums_are_those_of_the_film():
    film = flash_film(head(), Blocks(3, 2), "keys", size=4)
    found = played(film.scores, film.v, 3, 2, "keys")
    for row, tiles in enumerate(found["rows"]):
        sums = row_sums(film, row)
        seen = tiles[: len(sums)]  # a tile that shows something to other rows of the block alone changes nothing
        assert [one.stop for one in sums] == [tile["stop"] for tile in seen]
        assert [one.largest for one in sums] == pytest.approx([tile["max"] for tile in seen])
        assert [one.total for one in sums] == pytest.approx([tile["sum"] for tile in seen])


def film(n_tokens: int = 10, **changes: Any) -> bytes:
    """The component's bytes, of made numbers."""
    rows = np.random.default_rng(5)
    scores = np.where(np.tri(n_tokens, dtype=bool), rows.normal(0, 2, (n_tokens, n_tokens)), -np.inf)
    given = {
        "scores": scores, "v": rows.normal(size=(n_tokens, 8)), "labels": [f"·t{i}" for i in range(n_tokens)],
        "first": 0,
        "d_head": 8, "size": 4, "rows": 4, "columns": 3, "order": "keys", "sram": 96, "sink": None, "row": n_tokens - 1,
        "frame": 0, "texts": TEXTS,
    }  # fmt: skip
    return FlashFilmPicture(**{**given, **changes}).packed()


def test_a_sink_of_every_query_is_refused_in_a_sentence():
    """Inkling 2's: the film has one number for the whole head."""
    one = head()
    many = dataclasses.replace(one, sink=torch.zeros(len(one.scores)))
    with pytest.raises(NotSeparable, match="every query of its heads has a sink of its own"):
        flash_film(many, Blocks(3, 2), "keys", size=4)
