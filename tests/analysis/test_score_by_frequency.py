"""The pairs' contributions add up to the score, cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.score_by_frequency import frequency_map, frequency_split
from model_runner.errors import NoRotation, NoSuchPlace
from tests.model_runner.cases import case_of
from tests.model_runner.families import WINDOW

LAYER, HEAD, QUERY = 1, 3, 20
CLOSE = 1e-5  # the capture's scores are float32 sums of products of order 1
FAMILIES = ("llama", "llama-yarn", "phi", "gpt-neox", "glm4", "deepseek-v3", "gemma2", "gpt-oss")


@pytest.mark.parametrize("name", FAMILIES)
def test_pairs_and_rest_add_up_to_the_captured_score(name: str) -> None:
    capture = case_of(name).capture
    for key in (0, 7, QUERY):
        found = frequency_split(capture, LAYER, HEAD, QUERY, key)
        assert math.fsum(found.contributions) + found.rest == pytest.approx(found.scaled, abs=1e-12)
        if found.visible:
            assert found.score == pytest.approx(float(capture.scores(LAYER, HEAD)[QUERY, key]), abs=CLOSE)


@pytest.mark.parametrize("name, n_rest", [("llama", 0), ("phi", 4), ("gpt-neox", 4), ("deepseek-v3", 8)])
def test_coordinates_that_are_not_turned_are_the_rest(name: str, n_rest: int) -> None:
    found = frequency_split(case_of(name).capture, LAYER, HEAD, QUERY, 7)
    assert found.n_rest == n_rest
    assert (found.rest == 0) == (n_rest == 0)


def test_a_contribution_is_the_product_of_the_pairs_two_coordinates() -> None:
    capture = case_of("llama").capture
    q, k = capture.q(LAYER)[HEAD, QUERY].double(), capture.k(LAYER)[1, 7].double()
    found = frequency_split(capture, LAYER, HEAD, QUERY, 7)
    for i in range(4):  # the pairs of eight coordinates in halves
        expected = 8**-0.5 * float(q[i] * k[i] + q[i + 4] * k[i + 4])
        assert found.contributions[i] == pytest.approx(expected, abs=1e-12)
    assert (np.diff(found.theta) < 0).all()


def test_a_column_of_the_map_is_the_split_of_its_cell() -> None:
    capture = case_of("deepseek-v3").capture
    found = frequency_map(capture, LAYER, HEAD, QUERY)
    assert found.contributions.shape == (2, len(capture.tokens))
    for key in (0, 5, 30):
        one = frequency_split(capture, LAYER, HEAD, QUERY, key)
        assert np.array_equal(one.contributions, found.contributions[:, key])
        assert (one.rest, one.scaled, one.visible) == (found.rest[key], found.scaled[key], found.keep[key])


def test_the_map_knows_what_the_mask_hides() -> None:
    found = frequency_map(case_of("mistral").capture, LAYER, HEAD, QUERY)
    assert np.flatnonzero(found.keep).tolist() == list(range(QUERY - WINDOW + 1, QUERY + 1))


def test_places_and_layers_without_an_answer_are_refused() -> None:
    with pytest.raises(NoRotation):
        frequency_map(case_of("gpt2").capture, LAYER, HEAD, QUERY)
    with pytest.raises(NoSuchPlace, match="no position 400"):
        frequency_split(case_of("llama").capture, LAYER, HEAD, QUERY, 400)
    with pytest.raises(NoSuchPlace, match="no head 9"):
        frequency_map(case_of("llama").capture, LAYER, 9, QUERY)
