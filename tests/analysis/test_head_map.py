"""A head's map equals loops over its full matrix: exact, renormalised, in any window."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from analysis.head_map import PIXELS, Reading, Window, clip_window, head_map
from analysis.strongest_key import strongest_key
from model_runner import Capture, CaptureRequest
from model_runner.errors import NoSuchPlace, NoWeights
from model_runner.mask_rule import FULL
from tests.analysis.expected import CLOSE, NAN, assert_equal, visible, without_first
from tests.analysis.made import as_float64, causal_noise, embedded, made_capture
from tests.model_runner.cases import case_of

# -- exact ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_tokens", [1, 2, 40, PIXELS])
def test_where_it_fits_every_cell_is_the_weight_and_masked_ones_are_undefined(n_tokens: int) -> None:
    weights = causal_noise(n_tokens, layers=2, heads=2)
    found = head_map(made_capture(weights), 1, 0)
    assert (found.how, found.pool) == ("exact", (1, 1))
    assert found.window == Window(0, n_tokens, 0, n_tokens)
    assert found.values.dtype == np.float32
    assert_equal(found.values, np.where(visible(n_tokens), as_float64(weights[1, 0]), NAN))


def test_without_a_mask_every_cell_is_defined() -> None:
    assert not np.isnan(head_map(made_capture(causal_noise(5), mask=FULL), 0, 0).values).any()


@pytest.mark.parametrize("window", [Window(3, 9, 0, 40), Window(10, 11, 4, 8), Window(0, 40, 39, 40)])
def test_a_window_is_the_slice_of_the_capture_s_weights(window: Window) -> None:
    capture = embedded().capture(CaptureRequest(text="The dog chased the squirrel because it " * 6))
    found = head_map(capture, 5, 5, window=window)
    assert found.window == window
    queries, keys = slice(window.q0, window.q1), slice(window.k0, window.k1)
    expected = as_float64(capture.weights(5, 5, queries=queries, keys=keys))
    assert_equal(found.values, np.where(visible(len(capture.tokens))[queries, keys], expected, NAN))


def test_scores_are_read_as_they_are_and_undefined_where_masked() -> None:
    capture = embedded().capture(CaptureRequest(text="The dog chased the squirrel"))
    expected = as_float64(capture.scores(2, 3))
    assert np.isneginf(expected).any()
    for reading in (Reading("scores"), Reading("scores", hide_first=True, words=True)):
        found = head_map(capture, 2, 3, reading=reading)
        assert_equal(found.values, np.where(np.isneginf(expected), NAN, expected))
        assert found.largest == pytest.approx(np.abs(expected[np.isfinite(expected)]).max(), rel=CLOSE)


def test_value_weighted_is_the_weight_times_the_length_of_the_value_of_its_group() -> None:
    capture = case_of("llama").capture
    assert capture.n_kv_heads < capture.n_heads  # several heads share one value
    group, values = capture.n_heads // capture.n_kv_heads, capture.v(1).double()
    for head in range(capture.n_heads):
        lengths = [math.sqrt(math.fsum(x * x for x in v)) for v in values[head // group].tolist()]
        expected = as_float64(capture.weights(1, head)) * np.array(lengths)
        found = head_map(capture, 1, head, reading=Reading("value")).values
        assert_equal(found, np.where(visible(len(capture.tokens)), expected, NAN))


def test_the_largest_magnitude_is_found_and_is_zero_where_all_is_masked() -> None:
    weights = causal_noise(6)
    capture = made_capture(weights)
    assert head_map(capture, 0, 0).largest == 1.0  # the first token sees only itself
    masked = head_map(capture, 0, 0, window=Window(0, 2, 3, 6))
    assert np.isnan(masked.values).all()
    assert masked.largest == 0.0


# -- hiding the first token -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [None, Window(2, 9, 0, 5), Window(2, 9, 3, 9)])
def test_without_the_first_token_each_row_is_renormalised_over_the_rest(window: Window | None) -> None:
    weights = causal_noise(9, heads=2)
    expected = without_first(as_float64(weights[0, 1]))
    found = head_map(made_capture(weights), 0, 1, reading=Reading(hide_first=True), window=window)
    shown = window or Window(0, 9, 0, 9)
    assert_equal(found.values, expected[shown.q0 : shown.q1, shown.k0 : shown.k1])
    if window is None:
        assert np.nansum(found.values[1:], axis=1) == pytest.approx(1.0, abs=CLOSE)


def test_a_first_token_that_takes_nearly_everything_leaves_an_exact_rest() -> None:
    # In float32 this first token's weight rounds to 1, and 1 less it would leave nothing to divide by.
    rest = causal_noise(5)[0, 0]
    weights = rest * 1e-9
    weights[:, 0] = 1 - weights[:, 1:].sum(-1)
    capture = made_capture(weights[None, None].float())
    found = head_map(capture, 0, 0, reading=Reading(hide_first=True)).values
    expected = without_first(as_float64(rest))
    # Logarithms near −20 in float32 are off by 1e-6, and so, relatively, are their exponentials.
    np.testing.assert_allclose(found, expected, atol=1e-5, rtol=0, equal_nan=True)


def test_without_the_first_token_a_learned_sink_keeps_its_place_in_the_softmax() -> None:
    capture = case_of("gpt-oss").capture
    record = capture.record(0)
    assert record.sinks is not None
    for head in range(capture.n_heads):
        weights = as_float64(capture.weights(0, head))
        sink = 1 - weights.sum(axis=1, keepdims=True)
        expected = weights / (weights[:, 1:].sum(axis=1, keepdims=True) + sink)
        expected[:, 0] = NAN
        keep = record.mask.tile(slice(0, len(weights)), slice(0, len(weights)), record.q.device).numpy()
        found = head_map(capture, 0, head, reading=Reading(hide_first=True)).values
        # float32 weights divided by what they leave, down to some percent: errors of 1e-7 grow by a few tens.
        np.testing.assert_allclose(found, np.where(keep, expected, NAN), atol=1e-5, rtol=0, equal_nan=True)


def test_a_text_of_one_token_without_it_is_empty() -> None:
    found = head_map(made_capture(causal_noise(1)), 0, 0, reading=Reading(hide_first=True))
    assert np.isnan(found.values).all()


# -- windows and places -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, clipped",
    [
        (None, Window(0, 10, 0, 10)),
        (Window(2, 5, 3, 4), Window(2, 5, 3, 4)),
        (Window(-3, 5, -1, 99), Window(0, 5, 0, 10)),
        (Window(9, 99, 0, 1), Window(9, 10, 0, 1)),
        (Window(5, 5, 0, 10), Window(0, 10, 0, 10)),  # empty
        (Window(6, 2, 0, 10), Window(0, 10, 0, 10)),  # upside down
        (Window(0, 10, 10, 20), Window(0, 10, 0, 10)),  # beyond
        (Window(-9, -2, 0, 10), Window(0, 10, 0, 10)),
    ],
)
def test_a_window_is_clipped_to_the_text_and_useless_ones_show_it_all(given: Window | None, clipped: Window) -> None:
    assert clip_window(given, Window(0, 10, 0, 10)) == clipped
    assert head_map(made_capture(causal_noise(10)), 0, 0, window=given).window == clipped


def test_a_layer_or_head_that_does_not_exist_or_has_no_weights_is_said() -> None:
    capture = made_capture(causal_noise(4, layers=2, heads=2), without={1})
    with pytest.raises(NoSuchPlace, match="There is no layer 7: this model and text have 2, counted from 0"):
        head_map(capture, 7, 0)
    with pytest.raises(NoSuchPlace, match="There is no head 2: this model and text have 2, counted from 0"):
        head_map(capture, 0, 2)
    for what in ("weights", "scores", "value"):
        for hide_first in (False, True):
            with pytest.raises(NoWeights, match=r"Layer 1 has no softmax attention \(linear\)"):
                head_map(capture, 1, 0, reading=Reading(what, hide_first=hide_first))


def test_negative_layers_and_heads_count_from_the_end() -> None:
    capture = case_of("llama").capture
    for reading in (Reading(), Reading("scores"), Reading("value"), Reading(hide_first=True)):
        last = head_map(capture, capture.n_layers - 1, capture.n_heads - 1, reading=reading).values
        np.testing.assert_array_equal(head_map(capture, -1, -1, reading=reading).values, last)


def test_the_capture_is_left_as_it_is() -> None:
    capture = made_capture(causal_noise(6))
    before = [capture.q(0).clone(), capture.k(0).clone(), capture.weights(0, 0).clone()]
    for reading in (Reading("value", hide_first=True, words=True), Reading("scores")):
        head_map(capture, 0, 0, reading=reading)
    for kept, now in zip(before, [capture.q(0), capture.k(0), capture.weights(0, 0)], strict=True):
        assert torch.equal(kept, now)


# -- what is said of a map --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def words() -> Capture:
    return embedded().capture(CaptureRequest(text="The unhappiest squirrelologist chased it"))


def test_in_words_every_token_of_a_word_lies_in_that_word(words: Capture) -> None:
    view = head_map(words, 3, 7, reading=Reading(words=True))
    assert len(view.units) < len(words.tokens), "the text must have a word of several tokens"
    for token in range(len(words.tokens)):
        pinned = view.units_at(token, token)
        assert pinned is not None
        assert pinned[0] == pinned[1]
        assert view.units[pinned[0]].start <= token < view.units[pinned[0]].stop


def test_in_tokens_a_token_is_its_own_unit(words: Capture) -> None:
    view = head_map(words, 3, 7)
    assert [view.units_at(4, 2), view.units_at(4, None), view.units_at(None, 2)] == [(4, 2), (4, None), None]


def test_rows_and_columns_of_a_window_are_labelled_and_those_of_a_pooled_map_are_not(words: Capture) -> None:
    view = head_map(words, 3, 7, window=Window(2, 4, 0, 3))
    labels = [token.text for token in words.tokens]
    assert (view.row_labels, view.column_labels) == (labels[2:4], labels[:3])
    pooled = head_map(words, 3, 7, pixels=3)
    assert (pooled.row_labels, pooled.column_labels) == ([], [])


def test_the_strongest_key_is_the_one_looked_at_most_or_the_one_asked_for(words: Capture) -> None:
    row = words.weights(3, 7)[5].tolist()
    assert strongest_key(words, 3, 7, 5) == (5, row.index(max(row)), pytest.approx(max(row), abs=1e-6))
    weakest = row.index(min(row[:6]))
    assert strongest_key(words, 3, 7, 5, weakest) == (5, weakest, pytest.approx(row[weakest], abs=1e-6))
    assert strongest_key(words, 3, 7, None) is None


def test_with_the_first_token_hidden_the_strongest_key_is_that_of_the_map(words: Capture) -> None:
    shown = head_map(words, 7, 1, reading=Reading(hide_first=True)).values
    found = strongest_key(words, 7, 1, 5, hide_first=True)
    assert found is not None
    assert found[:2] == (5, int(np.nanargmax(shown[5])))
    assert found[2] == pytest.approx(float(shown[5, found[1]]), abs=1e-6)
    assert strongest_key(words, 7, 1, 5, 0, hide_first=True) is None
    assert strongest_key(words, 7, 1, 0, hide_first=True) is None  # it sees nothing else


@pytest.mark.parametrize(
    "reading, said",
    [
        (Reading(), []),
        (Reading("value"), ["Weight × length"]),
        (Reading("scores"), ["before the softmax"]),
        (Reading(hide_first=True), ["renormalised"]),
        (Reading(words=True), ["summed over the tokens looked at, averaged over"]),
        (Reading("scores", hide_first=True, words=True), ["before the softmax"]),
        (Reading("value", hide_first=True, words=True), ["× length", "renormalised", "summed"]),
    ],
)
def test_what_is_done_to_the_numbers_is_said(reading: Reading, said: list[str]) -> None:
    notes = reading.notes()
    assert len(notes) == len(said)
    assert [part for part, note in zip(said, notes, strict=True) if part not in note] == []
