"""The ranking by a cell equals sorting the heads one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.cell_ranking import cell_ranking
from tests.analysis.made import causal_noise, made_capture
from tests.model_runner.cases import case_of

N = 7


def test_heads_stand_by_their_weight_at_the_cell_and_a_layer_without_attention_is_left_out() -> None:
    capture = made_capture(causal_noise(N, layers=3, heads=2), without={1})
    found = cell_ranking(capture, 5, 2)
    every = {(layer, head): float(capture.weights(layer, head)[5, 2]) for layer in (0, 2) for head in (0, 1)}
    assert found.order == sorted(every, key=lambda place: -every[place])
    assert {place: found.weight(place) for place in every} == pytest.approx(every)
    assert np.isnan(found.weights[1]).all()


def test_of_equal_heads_the_earlier_stands_first() -> None:
    even = torch.tril(torch.ones(2, 3, N, N, dtype=torch.float64))
    found = cell_ranking(made_capture(even / even.sum(-1, keepdim=True)), 4, 1)
    assert found.order == [(layer, head) for layer in (0, 1) for head in range(3)]


def test_a_key_that_comes_later_is_ranked_in_no_head() -> None:
    assert cell_ranking(made_capture(causal_noise(N, layers=2, heads=2)), 2, 5).order == []


@pytest.mark.parametrize("name", ["mistral", "gpt-oss", "qwen3-next", "bert"])
def test_a_cell_of_any_family_is_that_of_its_maps(name: str) -> None:
    capture = case_of(name).capture
    query, key = len(capture.tokens) - 1, 1
    found = cell_ranking(capture, query, key)
    for layer, head in found.order:
        row = capture.weights(layer, head, queries=slice(query, query + 1), shares=True)[0]
        assert found.weight((layer, head)) == pytest.approx(float(row[key]), abs=1e-6)
        assert capture.has_weights(layer)
