"""The curves of Long texts are, number by number, what loops over the model's own weights give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from analysis.long_blocks import PLACES, block, blocks_of, long_heads
from model_runner import CaptureRequest, load_runner
from model_runner.capture import Capture
from pages.long_texts import every_head
from tests.model_runner.cases import shared_runner
from ui.shell.page import PageContext
from viz.chart import Lines

TEXT = "The dog chased the squirrel because it was hungry, and the old cat slept. " * 8
MODELS = ["default", "encoder"]
LAYER, HEAD, RECENT, BINS = 5, 2, 64, 32


@dataclass(frozen=True, eq=False)
class Drawn:
    capture: Capture
    charts: dict[str, Lines]
    weights: list[list[list[list[float]]]]  # of each layer, head, query and key

    @property
    def count(self) -> int:
        return len(self.capture.tokens)

    def line(self, chart: str, number: int) -> tuple[list[float], list[float]]:
        series = self.charts[chart].series[number]
        return list(series.x), list(series.y)


@pytest.fixture(scope="module", params=MODELS)
def drawn(request: pytest.FixtureRequest) -> Drawn:
    runner = load_runner(request.param)
    capture = runner.capture(CaptureRequest(TEXT))
    found = long_heads(capture, [block(capture, rows) for rows in blocks_of(capture)])
    opened = PageContext(runner, capture, LAYER % capture.n_layers, HEAD, None, None)
    weights = [
        [capture.weights(layer, head).double().tolist() for head in range(capture.n_heads)]
        for layer in range(capture.n_layers)
    ]
    with pytest.MonkeyPatch.context() as patch:  # in the language of the sources: no session runs here
        patch.setattr(every_head, "_", str)
        return Drawn(capture, dict(every_head.curves(opened, found)), weights)


def ahead(drawn: Drawn) -> bool:
    return drawn.weights[0][0][0][1] > 0


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def first(row: list[float], query: int, both_ways: bool) -> float:
    return row[0]


def recent(row: list[float], query: int, both_ways: bool) -> float:
    """On the last 64 tokens, the query one of them; of a model that looks both ways on as many after it."""
    near = [key for key in range(1, len(row)) if abs(query - key) < RECENT and (both_ways or key <= query)]
    return sum(row[key] for key in near)


def distance(row: list[float], query: int, both_ways: bool) -> float:
    rest = sum(row[1:])
    return sum(row[key] * abs(query - key) for key in range(1, len(row))) / rest


def entropy(row: list[float]) -> float:
    return -sum(weight * math.log2(weight) for weight in row if weight > 0)


def over_heads(drawn: Drawn, of: Any) -> list[list[float]]:
    """Of each layer and head, the mean over its queries: the first one looks at itself alone, or is the first token."""
    both = ahead(drawn)
    start = 0 if both and of is distance else 1
    return [
        [mean([of(row, query, both) for query, row in enumerate(rows) if query >= start]) for rows in heads]
        for heads in drawn.weights
    ]


def test_where_attention_goes_is_the_mean_over_queries_and_heads_and_the_rest_is_what_is_left(drawn: Drawn) -> None:
    layers = list(range(drawn.capture.n_layers))
    wanted = [[mean(heads) for heads in over_heads(drawn, of)] for of in (first, recent)]
    wanted.append([1 - a - b for a, b in zip(*wanted, strict=True)])
    for number, values in enumerate(wanted):
        x, y = drawn.line("where", number)
        assert x == layers
        assert y == pytest.approx(values, abs=2e-5)


def test_reach_is_the_mean_over_heads_and_that_of_the_head_that_looks_farthest(drawn: Drawn) -> None:
    found = over_heads(drawn, distance)
    assert drawn.line("reach", 0)[1] == pytest.approx([mean(heads) for heads in found], rel=1e-3)
    assert drawn.line("reach", 1)[1] == pytest.approx([max(heads) for heads in found], rel=1e-3)


def test_the_v_shape_is_of_equal_parts_of_what_each_query_sees_drawn_at_their_middles(drawn: Drawn) -> None:
    layer = LAYER % drawn.capture.n_layers
    shares = []
    for rows in drawn.weights[layer]:
        of_head = []
        for query, row in enumerate(rows):
            sees = drawn.count if ahead(drawn) else query + 1
            if sees < PLACES:
                continue
            parts = [0.0] * PLACES
            for key in range(sees):
                parts[key * PLACES // sees] += row[key]  # the part that the key begins in
            of_head.append(parts)
        shares.append([mean([parts[place] for parts in of_head]) for place in range(PLACES)])
    x, y = drawn.line("v_shape", 0)
    assert x == pytest.approx([(2 * place + 1) / 64 for place in range(32)])
    assert y == pytest.approx(shares[HEAD], abs=2e-5)
    assert drawn.line("v_shape", 1)[1] == pytest.approx(
        [mean(list(one)) for one in zip(*shares, strict=True)], abs=2e-5
    )
    assert drawn.line("v_shape", 2) == ([0, 1], [1 / 32, 1 / 32])
    assert ("the last" in drawn.charts["v_shape"].x_title) == ahead(drawn)  # where what is seen ends


def test_entropy_is_the_mean_of_each_bin_of_positions_drawn_at_its_middle(drawn: Drawn) -> None:
    edges = [number * drawn.count // BINS for number in range(BINS + 1)]
    bins = [range(start, stop) for start, stop in pairwise(edges)]
    heads = [
        [mean([entropy(rows[query]) for query in part]) for part in bins]
        for rows in drawn.weights[LAYER % drawn.capture.n_layers]
    ]
    x, y = drawn.line("entropy", 0)
    assert x == pytest.approx([mean([float(query) for query in part]) for part in bins])
    assert y == pytest.approx(heads[HEAD], abs=1e-3)
    assert drawn.line("entropy", 1)[1] == pytest.approx([mean(list(one)) for one in zip(*heads, strict=True)], abs=1e-3)
    sees = [drawn.count if ahead(drawn) else at + 1 for at in x]
    assert drawn.line("entropy", 2)[1] == pytest.approx(np.log2(sees).tolist())


def test_spread_evenly_is_over_the_keys_that_a_window_leaves() -> None:
    runner = shared_runner("mistral")
    capture = runner.capture(CaptureRequest("A dog chased it. " * 2))
    found = long_heads(capture, [block(capture, rows) for rows in blocks_of(capture)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(every_head, "_", str)
        charts = dict(every_head.curves(PageContext(runner, capture, 1, 2, None, None), found))
    sees = (capture.weights(1, 2) > 0).sum(dim=-1)
    assert len(set(sees.tolist())) < len(sees) / 2  # its window is full
    even = charts["entropy"].series[2]
    between = [(float(sees[math.floor(x)]) + float(sees[math.ceil(x)])) / 2 for x in even.x]
    assert list(even.y) == pytest.approx(np.log2(between).tolist())
