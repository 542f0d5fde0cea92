"""Two sentences in one text: where the second begins, the part of each cell, and which part attends to which."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from analysis.segments import part_cells, shares
from model_runner import CaptureRequest, load_runner
from model_runner.tokens import second_starts

PAIR = "The dog ran home.[SEP]It was [MASK]."


@functools.cache
def capture(text, name="encoder"):
    return load_runner(name).capture(CaptureRequest(text))


@pytest.mark.parametrize(
    "text, first", [(PAIR, "It"), ("The dog ran home.", None), ("home.[SEP]", None), ("one[SEP]two[SEP]three", "t")]
)
def test_the_second_sentence_begins_after_the_first_separator(text, first):
    made = capture(text)
    start = second_starts(made.tokens)
    assert (None if start is None else made.tokens[start].text[:2]) == first


def test_a_model_whose_texts_end_with_an_ordinary_token_has_none():
    assert second_starts(capture(PAIR, "default").tokens) is None


@pytest.mark.parametrize("part", ["aa", "ab", "ba", "bb", "all"])
def test_a_cell_is_of_a_part_by_its_two_sentences(part):
    cells = part_cells(5, 3, part)
    for query in range(5):
        for key in range(5):
            assert cells[query, key] == (part in ("all", "ab"[query >= 3] + "ab"[key >= 3]))


def test_shares_are_the_mean_mass_and_all_of_it():
    made = capture(PAIR)
    start = second_starts(made.tokens)
    weights = made.weights(1, 2).double().numpy()
    found = shares(weights, start)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    across = [sum(float(weights[q, k]) for k in range(start, len(weights))) for q in range(start)]
    assert found[0, 1] == pytest.approx(sum(across) / len(across))
    by_hand = [sum(float(weights[q, k]) for k in range(start)) for q in range(start, len(weights))]
    assert found[1, 0] == pytest.approx(sum(by_hand) / len(by_hand))
