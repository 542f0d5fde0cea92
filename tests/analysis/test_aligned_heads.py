"""Two heads over common pieces: against loops over tokens, and invariants of any two heads."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from analysis.aligned_heads import AlignedHeads, aligned_heads, label_of, on_pieces
from analysis.comparison import head_drift
from analysis.head_map import head_map
from attention.masks import Full
from model_runner import Capture, CaptureRequest
from model_runner.mask_rule import MaskRule
from tests.analysis.expected import assert_equal
from tests.analysis.made import causal_noise, embedded, made_capture

TEXT = "ab cd ef gh"
FINE = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 8), (8, 10), (10, 11)]
COARSE = [(0, 2), (2, 5), (5, 8), (8, 9), (9, 11)]
# FINE and COARSE can both be cut after 2, 5 and 8
PIECES = [([0, 1], [0]), ([2, 3, 4], [1]), ([5], [2]), ([6, 7], [3, 4])]


def made(spans: list[tuple[int, int]], text: str = TEXT, seed: int = 0, **more) -> Capture:
    return made_capture(causal_noise(len(spans), layers=2, heads=3, seed=seed), text=text, spans=spans, **more)


def both() -> tuple[Capture, Capture, AlignedHeads]:
    first, second = made(FINE), made(COARSE, seed=1)
    return first, second, aligned_heads(first, (1, 2), second, (0, 1))


def slow(weights: np.ndarray, pieces: list[list[int]]) -> np.ndarray:
    """Sums over the keys of a piece, means over its queries, NaN where no key is seen, cell by cell."""
    found = np.full((len(pieces), len(pieces)), math.nan)
    for row, queries in enumerate(pieces):
        for column, keys in enumerate(pieces):
            if any(key <= query for query in queries for key in keys):
                total = math.fsum(weights[query, key] for query in queries for key in keys)
                found[row, column] = total / len(queries)
    return found


def test_weights_are_summed_over_keys_and_averaged_over_queries():
    first, second, view = both()
    for capture, head, own, side in ((first, (1, 2), view.first, 0), (second, (0, 1), view.second, 1)):
        assert_equal(own.values, slow(capture.weights(*head).numpy(), [pair[side] for pair in PIECES]))


def test_of_a_layer_the_mean_of_all_its_heads_is_compared():
    first, second = made(FINE), made(COARSE, seed=1)
    view = aligned_heads(first, (1, None), second, (0, None))
    for capture, layer, own, side in ((first, 1, view.first, 0), (second, 0, view.second, 1)):
        heads = [slow(capture.weights(layer, head).numpy(), [pair[side] for pair in PIECES]) for head in range(3)]
        assert_equal(own.values, sum(heads) / 3)
        np.testing.assert_allclose(np.nansum(own.values, axis=1), 1, atol=1e-6)
    both_layers = [slow_mean(first, 1, 0), slow_mean(second, 0, 1)]
    assert_equal(view.difference.values, both_layers[0] - both_layers[1])


def slow_mean(capture: Capture, layer: int, side: int) -> np.ndarray:
    mean = sum(capture.weights(layer, head).double().numpy() for head in range(3)) / 3
    return slow(mean, [pair[side] for pair in PIECES])


def test_rows_still_sum_to_one():
    _, _, view = both()
    for one in (view.first, view.second):
        np.testing.assert_allclose(np.nansum(one.values, axis=1), 1, atol=1e-6)


def test_the_difference_is_the_first_less_the_second_on_every_shared_piece():
    first, second, view = both()
    expected = slow(first.weights(1, 2).numpy(), [one for one, _ in PIECES])
    expected -= slow(second.weights(0, 1).numpy(), [two for _, two in PIECES])
    assert_equal(view.difference.values, expected)
    np.testing.assert_allclose(np.nansum(view.difference.values, axis=1), 0, atol=1e-6)


def test_the_share_elsewhere_is_half_of_what_moved():
    first, second, view = both()
    gap = slow(first.weights(1, 2).numpy(), [one for one, _ in PIECES]) - slow(
        second.weights(0, 1).numpy(), [two for _, two in PIECES]
    )
    rows = [math.fsum(abs(value) for value in row if not math.isnan(value)) / 2 for row in gap]
    assert view.elsewhere == pytest.approx(math.fsum(rows) / len(rows), abs=1e-6)
    assert 0 < view.elsewhere < 1


def test_what_goes_to_a_piece_that_the_other_lacks_lies_elsewhere():
    weights = torch.eye(3, dtype=torch.float64)
    weights[2] = torch.tensor([0.0, 1.0, 0.0])  # "c" looks at "b", which the second text does not have
    first = made_capture(weights[None, None], text="a b c", spans=[(0, 1), (1, 3), (3, 5)])
    second = made_capture(torch.eye(2, dtype=torch.float64)[None, None], text="a c", spans=[(0, 1), (1, 3)])
    view = aligned_heads(first, (0, 0), second, (0, 0))
    assert view.n_unshared == (1, 0)
    nan = math.nan
    assert_equal(view.difference.values, np.array([[0, nan, nan], [nan, nan, nan], [0, nan, -1]]))
    assert view.elsewhere == pytest.approx(0.5)  # all that "c" had, nothing of "a"
    other = made_capture(weights[None, None], text="a d c", spans=[(0, 1), (1, 3), (3, 5)])
    assert aligned_heads(first, (0, 0), other, (0, 0)).elsewhere == pytest.approx(0.5)  # "b" and "d" are two places
    assert view.first.labels == ("t0", "t1", "t2")
    assert view.difference.places == view.first.places == (0, 1, 2)
    assert view.second.places == (0, 2)


def test_one_tokenizer_and_one_text_are_the_heads_own_maps():
    capture = embedded().capture(CaptureRequest("a 😀 狗看见了猫"))
    view = aligned_heads(capture, (6, 4), capture, (3, 7))
    one, two = (head_map(capture, *head).values for head in ((6, 4), (3, 7)))
    assert_equal(view.first.values, one)
    assert_equal(view.second.values, two)
    assert_equal(view.difference.values, one - two)
    assert not view.merged
    assert view.n_unshared == (0, 0)
    assert view.first.labels == view.second.labels == tuple(token.text for token in capture.tokens)


def test_the_share_elsewhere_of_one_head_in_two_captures_is_its_drift():
    first, second = made(FINE), made(FINE, seed=3)
    expected = head_drift(first, second)
    for layer, head in ((0, 0), (1, 2)):
        view = aligned_heads(first, (layer, head), second, (layer, head))
        assert view.elsewhere == pytest.approx(float(expected[layer, head]), abs=1e-6)


def test_a_head_against_itself_is_zero_everywhere_it_sees():
    capture = made(FINE)
    view = aligned_heads(capture, (0, 1), capture, (0, 1))
    assert np.nanmax(np.abs(view.difference.values)) == 0 == view.elsewhere
    assert np.isnan(view.difference.values).sum() == 8 * 7 / 2


def test_a_cell_that_one_of_the_two_cannot_see_has_no_difference():
    first = made(FINE)
    ahead = made_capture(torch.full((1, 1, 8, 8), 1 / 8), text=TEXT, spans=FINE, mask=MaskRule(Full()))
    view = aligned_heads(first, (0, 0), ahead, (0, 0))
    assert np.isnan(view.difference.values[0, 1:]).all()
    assert not np.isnan(view.second.values).any()


def test_the_seed_of_a_thousand_cuts_keeps_all_weight():
    weights = causal_noise(40, seed=7)[0, 0]
    runs, at = [], 0
    for size in (1, 5, 2, 2, 9, 1, 20):
        runs.append(range(at, at + size))
        at += size
    np.testing.assert_allclose(on_pieces(weights, runs).sum(1).numpy(), 1, atol=1e-12)


def test_pieces_are_named_by_what_they_stand_for():
    first, _, view = both()
    assert view.second.labels[0] == "t0"
    assert view.first.labels[:2] == ("ab", "·cd")
    assert view.difference.labels == view.first.labels
    assert label_of(first.tokens, first.text, range(2, 5)) == "·cd"


def test_a_token_is_found_in_its_piece():
    _, _, view = both()
    assert [view.place_of(i) for i in range(8)] == [0, 0, 1, 1, 1, 2, 3, 3]
    assert [view.place_of(i, 1) for i in range(5)] == [0, 1, 2, 3, 3]
    assert view.place_of(None) is None
    assert view.difference.at(3) == 3
    assert view.difference.at(None) is None


def test_of_texts_without_a_common_word_there_is_no_difference():
    first, second = (made_capture(causal_noise(2), text=text, spans=[(0, 1), (1, 3)]) for text in ("a b", "c d"))
    view = aligned_heads(first, (0, 0), second, (0, 0))
    assert np.isnan(view.difference.values).all()
    assert math.isnan(view.elsewhere)
    assert view.n_unshared == (2, 2)
