"""Lines contain the head's own weights; for a long text, those around the pinned token."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.head_lines import LONGEST, head_lines
from analysis.head_map import Reading, Window, head_map
from tests.analysis.made import as_float64, causal_noise, made_capture


@pytest.mark.parametrize(
    "n_tokens, query, start",
    [(10, None, 0), (10, 3, 0), (200, None, 136), (200, 199, 136), (200, 100, 52), (200, 20, 0), (64, 63, 0)],
)
def test_the_weights_are_those_of_neighbouring_tokens(n_tokens, query, start):
    capture = made_capture(causal_noise(n_tokens, heads=2))
    view = head_lines(capture, [(0, 1), (0, 0)], query)
    span = slice(start, min(n_tokens, start + LONGEST))
    expected = [as_float64(capture.weights(0, head))[span, span] for head in (1, 0)]
    np.testing.assert_allclose(view.weights, expected, atol=1e-6)  # float32
    assert (view.start, view.labels) == (start, tuple(token.text for token in capture.tokens[span]))


@pytest.mark.parametrize("n_tokens, key", [(10, 2), (200, 150)])
def test_the_query_that_looks_at_a_key_most_is_a_position_of_the_text(n_tokens, key):
    capture = made_capture(causal_noise(n_tokens, heads=2))
    view = head_lines(capture, [(0, 1), (0, 0)])
    column = as_float64(capture.weights(0, 1))[view.start :, key]
    assert view.looks_most_at(key) == view.start + int(np.nan_to_num(column, nan=-1).argmax())


@pytest.mark.parametrize("n_tokens, query", [(10, 3), (200, 100)])
def test_without_the_first_token_they_are_the_map_of_the_same_reading(n_tokens, query):
    capture = made_capture(causal_noise(n_tokens))
    view = head_lines(capture, [(0, 0)], query, hide_first=True)
    n, start = len(view.labels), view.start
    shown = head_map(
        capture, 0, 0, reading=Reading(hide_first=True), window=Window(start, start + n, start, start + n)
    ).values
    drawn = ~np.isnan(shown)
    np.testing.assert_allclose(view.weights[0][drawn], shown[drawn], atol=1e-6)
    assert np.isnan(view.weights[0][:, 0]).all() == (start == 0)


def test_it_knows_which_tokens_it_holds():
    view = head_lines(made_capture(causal_noise(200)), [(0, 0)], 100)
    assert [view.holds(token) for token in (None, 51, 52, 115, 116)] == [False, False, True, True, False]


@pytest.mark.parametrize(
    "n_tokens, query, hide_first", [(10, 3, False), (200, None, False), (200, 100, False), (200, 150, True)]
)
def test_it_says_what_goes_to_tokens_that_it_does_not_hold(n_tokens, query, hide_first):
    capture = made_capture(causal_noise(n_tokens, heads=2))
    view = head_lines(capture, [(0, 1), (0, 0)], query, hide_first=hide_first)
    centre = n_tokens - 1 if query is None else query
    row = as_float64(capture.weights(0, 1))[centre]
    row = np.nan_to_num(row)
    if hide_first:
        row[0] = 0
        row /= row.sum()
    row[view.start : view.start + len(view.labels)] = 0
    assert view.centre == centre
    assert view.elsewhere == pytest.approx(row.sum(), abs=1e-6)
    assert view.elsewhere == 0 or view.elsewhere_most == row.argmax()
