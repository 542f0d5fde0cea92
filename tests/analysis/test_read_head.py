"""A head read, less another: its numbers, what a file says of them, and lines of Python that give the same array."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest

from analysis.head_map import Reading, Window
from analysis.read_head import ReadHead, described, labels, maps_of, positions, python_lines, read_head
from analysis.tables import map_table, of_cells
from model_runner import Capture, CaptureRequest
from tests.analysis.made import embedded

OTHER = (2, 1)
WINDOW = Window(2, 6, 1, 4)


@functools.cache
def capture() -> Capture:
    return embedded().capture(CaptureRequest(text="The unhappiest squirrelologist chased the dog"))


def read(*given: Any, **more: Any) -> ReadHead:
    return read_head(capture(), 3, 7, *given, **more)


def run(lines: str) -> dict[str, Any]:
    names: dict[str, Any] = {"capture": capture()}
    exec(lines, names)
    return names


@pytest.mark.parametrize("other", [None, OTHER])
@pytest.mark.parametrize("window", [None, WINDOW])
@pytest.mark.parametrize(
    "reading", [Reading(), Reading("scores", hide_first=True), Reading("value", hide_first=True), Reading(words=True)]
)
def test_the_lines_of_python_give_the_same_array(reading, window, other):
    found = read(reading, other, window=window)
    np.testing.assert_array_equal(run(python_lines(found))["values"], found.view.values)


@pytest.mark.parametrize("window", [None, WINDOW])
def test_the_shorter_line_gives_the_same_weights(window):
    found = read(window=window)
    short = re.search(r"in plain torch: (.*)", python_lines(found))
    assert short is not None
    weights = eval(short[1], {"capture": capture()}).numpy()
    drawn = ~np.isnan(found.view.values)
    np.testing.assert_array_equal(weights[drawn], found.view.values[drawn])
    assert (weights[~drawn] == 0).all()  # what is masked on the screen has no weight


@pytest.mark.parametrize(
    "given, more",
    [
        ((Reading("scores"),), {}),
        ((Reading(hide_first=True),), {}),
        ((Reading(words=True),), {}),
        ((Reading(), OTHER), {}),
        ((), {"pixels": 4}),
    ],
)
def test_the_shorter_line_is_offered_only_where_it_is_true(given, more):
    assert "capture.weights" not in python_lines(read(*given, **more))


@pytest.mark.parametrize(
    "given, more, words",
    [
        ((), {}, "weights after softmax"),
        ((Reading("scores", hide_first=True, words=True),), {}, "scores before softmax"),
        ((Reading("value", hide_first=True),), {}, "weight × ‖v‖, first token hidden, rows renormalised"),
        ((Reading(words=True), OTHER), {}, "weights after softmax, words: keys summed, queries averaged, minus L2H1"),
        ((), {"pixels": 4}, "weights after softmax, max of 4×4 cells"),
        ((Reading("scores"),), {"pixels": 4}, "scores before softmax, mean of 4×4 cells"),
    ],
)
def test_it_is_said_how_the_numbers_were_made(given, more, words):
    assert described(read(*given, **more)) == words


def test_of_a_difference_both_heads_stand_beside_it():
    maps = {name: view.values for name, view in maps_of(read(Reading(), OTHER, window=WINDOW)).items()}
    assert list(maps) == ["L3H7 − L2H1", "L3H7", "L2H1"]
    weights = {name: capture().weights(*head).numpy()[2:6, 1:4] for name, head in (("L3H7", (3, 7)), ("L2H1", OTHER))}
    for name, wanted in weights.items():
        # float32 sums of a tile and of the whole, each of scores of size 20, part by about 1e-5
        np.testing.assert_allclose(np.nan_to_num(maps[name]), wanted, atol=1e-5)
    np.testing.assert_array_equal(maps["L3H7 − L2H1"], maps["L3H7"] - maps["L2H1"])
    assert list(maps_of(read())) == ["L3H7"]


def test_rows_and_columns_are_named_by_the_tokens_they_stand_for():
    tokens = [token.text for token in capture().tokens]
    exact, pooled = read(window=WINDOW).view, read(pixels=4).view
    assert positions(exact) == ({i: tokens[i] for i in range(2, 6)}, {i: tokens[i] for i in range(1, 4)})
    assert labels(exact) == (tokens[2:6], tokens[1:4])
    last = len(tokens) - 1
    ends = {i: f"{tokens[i]} … {min(i + 3, last)} {tokens[min(i + 3, last)]}" for i in range(0, last, 4)}
    ends |= {last: tokens[last]} if last % 4 == 0 else {}
    assert positions(pooled) == (ends, ends)
    assert labels(pooled) == ([*ends.values()], [*ends.values()])
    table = map_table(pooled)
    assert [*table.index][:2] == [f"0 {ends[0]}", f"4 {ends[4]}"]
    assert of_cells("L3H7", table, str) == "L3H7 · each cell is the largest of 4 × 4"
    assert of_cells("L3H7", map_table(exact), str) == "L3H7"
