"""A head's map equals what loops make of its full matrix: exact, pooled, by words, renormalised, in any window."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
import torch

from analysis.head_map import PIXELS, HeadMap, Reading, Window, clip_window, head_map, units_of
from analysis.units import Unit
from model_runner import Capture, CaptureRequest
from model_runner.errors import NoSuchPlace, NoWeights
from model_runner.mask_rule import FULL
from tests.analysis.made import as_float64, causal_noise, embedded, made_capture
from tests.model_runner.cases import case_of

CLOSE = 1e-6  # maps are float32: half a unit (6e-8) of values of order 1, those made of sums a few
NAN = math.nan


def _visible(n: int) -> np.ndarray:
    return np.tri(n, dtype=bool)


def _assert_equal(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, atol=CLOSE, rtol=CLOSE, equal_nan=True)


def _pooled(values: np.ndarray, rows: int, columns: int, how: Callable[[np.ndarray], float]) -> np.ndarray:
    """Blocks of rows × columns reduced over the cells that are not NaN, one at a time; NaN where a block has none."""
    shape = math.ceil(values.shape[0] / rows), math.ceil(values.shape[1] / columns)
    result = np.full(shape, NAN)
    for i in range(shape[0]):
        for j in range(shape[1]):
            block = values[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
            cells = block[~np.isnan(block)]
            if len(cells):
                result[i, j] = how(cells)
    return result


# -- exact ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_tokens", [1, 2, 40, PIXELS])
def test_where_it_fits_every_cell_is_the_weight_and_masked_ones_are_undefined(n_tokens: int) -> None:
    weights = causal_noise(n_tokens, layers=2, heads=2)
    found = head_map(made_capture(weights), 1, 0)
    assert (found.how, found.pool) == ("exact", (1, 1))
    assert found.window == Window(0, n_tokens, 0, n_tokens)
    assert found.values.dtype == np.float32
    _assert_equal(found.values, np.where(_visible(n_tokens), as_float64(weights[1, 0]), NAN))


def test_without_a_mask_every_cell_is_defined() -> None:
    assert not np.isnan(head_map(made_capture(causal_noise(5), mask=FULL), 0, 0).values).any()


@pytest.mark.parametrize("window", [Window(3, 9, 0, 40), Window(10, 11, 4, 8), Window(0, 40, 39, 40)])
def test_a_window_is_the_slice_of_the_capture_s_weights(window: Window) -> None:
    capture = embedded().capture(CaptureRequest(text="The dog chased the squirrel because it " * 6))
    found = head_map(capture, 5, 5, window=window)
    assert found.window == window
    queries, keys = slice(window.q0, window.q1), slice(window.k0, window.k1)
    expected = as_float64(capture.weights(5, 5, queries=queries, keys=keys))
    _assert_equal(found.values, np.where(_visible(len(capture.tokens))[queries, keys], expected, NAN))


def test_scores_are_read_as_they_are_and_undefined_where_masked() -> None:
    capture = embedded().capture(CaptureRequest(text="The dog chased the squirrel"))
    expected = as_float64(capture.scores(2, 3))
    assert np.isneginf(expected).any()
    for reading in (Reading("scores"), Reading("scores", hide_first=True, words=True)):
        found = head_map(capture, 2, 3, reading=reading)
        _assert_equal(found.values, np.where(np.isneginf(expected), NAN, expected))
        assert found.largest == pytest.approx(np.abs(expected[np.isfinite(expected)]).max(), rel=CLOSE)


def test_value_weighted_is_the_weight_times_the_length_of_the_value_of_its_group() -> None:
    capture = case_of("llama").capture
    assert capture.n_kv_heads < capture.n_heads  # several heads share one value
    group, values = capture.n_heads // capture.n_kv_heads, capture.v(1).double()
    for head in range(capture.n_heads):
        lengths = [math.sqrt(math.fsum(x * x for x in v)) for v in values[head // group].tolist()]
        expected = as_float64(capture.weights(1, head)) * np.array(lengths)
        found = head_map(capture, 1, head, reading=Reading("value")).values
        _assert_equal(found, np.where(_visible(len(capture.tokens)), expected, NAN))


def test_the_largest_magnitude_is_found_and_is_zero_where_all_is_masked() -> None:
    weights = causal_noise(6)
    capture = made_capture(weights)
    assert head_map(capture, 0, 0).largest == 1.0  # the first token sees only itself
    masked = head_map(capture, 0, 0, window=Window(0, 2, 3, 6))
    assert np.isnan(masked.values).all()
    assert masked.largest == 0.0


# -- hiding the first token -------------------------------------------------------------------------------------------


def _without_first(weights: np.ndarray) -> np.ndarray:
    """Each row over the rest of its visible cells; the first column and a row that has no rest are undefined."""
    result = np.full(weights.shape, NAN)
    for query in range(1, len(weights)):
        rest = math.fsum(weights[query, 1:])
        for key in range(1, query + 1):
            result[query, key] = weights[query, key] / rest
    return result


@pytest.mark.parametrize("window", [None, Window(2, 9, 0, 5), Window(2, 9, 3, 9)])
def test_without_the_first_token_each_row_is_renormalised_over_the_rest(window: Window | None) -> None:
    weights = causal_noise(9, heads=2)
    expected = _without_first(as_float64(weights[0, 1]))
    found = head_map(made_capture(weights), 0, 1, reading=Reading(hide_first=True), window=window)
    shown = window or Window(0, 9, 0, 9)
    _assert_equal(found.values, expected[shown.q0 : shown.q1, shown.k0 : shown.k1])
    if window is None:
        assert np.nansum(found.values[1:], axis=1) == pytest.approx(1.0, abs=CLOSE)


def test_a_first_token_that_takes_nearly_everything_leaves_an_exact_rest() -> None:
    # In float32 this first token's weight rounds to 1, and 1 less it would leave nothing to divide by.
    rest = causal_noise(5)[0, 0]
    weights = rest * 1e-9
    weights[:, 0] = 1 - weights[:, 1:].sum(-1)
    capture = made_capture(weights[None, None].float())
    found = head_map(capture, 0, 0, reading=Reading(hide_first=True)).values
    expected = _without_first(as_float64(rest))
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


# -- words ------------------------------------------------------------------------------------------------------------


def _in_pieces(n_tokens: int, seed: int = 0) -> tuple[str, list[tuple[int, int]], list[list[int]]]:
    """A text of words in one to four pieces each, the spans of its tokens, and the tokens of each word."""
    rng, text, spans, words = random.Random(seed), "", [], []
    while len(spans) < n_tokens:
        pieces = min(rng.randint(1, 4), n_tokens - len(spans))
        words.append(list(range(len(spans), len(spans) + pieces)))
        for piece in range(pieces):
            grown = text + (" " if piece == 0 and text else "") + "ab"
            spans.append((len(text), len(grown)))
            text = grown
    return text, spans, words


def _by_words(weights: np.ndarray, words: list[list[int]]) -> np.ndarray:
    """Summed over the tokens of the looked-at word, averaged over those of the looking one; undefined where masked."""
    result = np.full((len(words), len(words)), NAN)
    for i, looking in enumerate(words):
        for j, looked_at in enumerate(words):
            if looked_at[0] <= looking[-1]:
                result[i, j] = math.fsum(weights[q, k] for q in looking for k in looked_at) / len(looking)
    return result


def _word_capture(n_tokens: int) -> tuple[Capture, np.ndarray, list[list[int]]]:
    text, spans, words = _in_pieces(n_tokens)
    weights = causal_noise(n_tokens)
    return made_capture(weights, text=text, spans=spans), as_float64(weights[0, 0]), words


def test_words_sum_over_keys_and_average_over_queries() -> None:
    capture, weights, words = _word_capture(60)
    found = head_map(capture, 0, 0, reading=Reading(words=True))
    assert [list(range(unit.start, unit.stop)) for unit in found.units] == words
    assert found.how == "exact"
    _assert_equal(found.values, _by_words(weights, words))
    assert np.nansum(found.values, axis=1) == pytest.approx(1.0, abs=CLOSE)  # rows still sum to 1


def test_a_window_of_words_is_the_slice_of_the_whole() -> None:
    capture, weights, words = _word_capture(60)
    found = head_map(capture, 0, 0, reading=Reading(words=True), window=Window(2, 9, 1, 6))
    _assert_equal(found.values, _by_words(weights, words)[2:9, 1:6])


def test_words_of_values_and_of_renormalised_weights_are_made_of_those() -> None:
    capture, weights, words = _word_capture(30)
    lengths = np.linalg.norm(as_float64(capture.v(0)[0]), axis=-1)
    found = head_map(capture, 0, 0, reading=Reading("value", words=True))
    _assert_equal(found.values, _by_words(weights * lengths, words))
    found = head_map(capture, 0, 0, reading=Reading(hide_first=True, words=True))
    rest = _by_words(np.nan_to_num(_without_first(weights)), words)
    if len(words[0]) == 1:
        rest[:, 0] = NAN
    _assert_equal(found.values, rest)


def test_rows_and_columns_are_words_only_where_words_are_read() -> None:
    capture, _, words = _word_capture(20)
    assert len(units_of(capture, Reading(words=True))) == len(words)
    for reading in (Reading(), Reading("scores", words=True)):
        units = units_of(capture, reading)
        assert units == tuple(Unit(token.text, i, i + 1, (token.text,)) for i, token in enumerate(capture.tokens))


# -- long texts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "n_tokens, window, pool",
    [
        (PIXELS + 1, None, (2, 2)),
        (300, None, (2, 2)),
        (3 * PIXELS - 1, None, (3, 3)),
        (300, Window(10, 291, 7, 290), (2, 2)),
        (300, Window(100, 150, 0, 300), (1, 2)),
        (300, Window(0, 300, 40, 41), (2, 1)),
        (300, Window(20, 276, 0, 256), (1, 1)),
    ],
)
class TestPooled:
    def _whole(self, n_tokens: int) -> tuple[Capture, np.ndarray]:
        weights = causal_noise(n_tokens)
        return made_capture(weights), np.where(_visible(n_tokens), as_float64(weights[0, 0]), NAN)

    def _check(self, found: HeadMap, whole: np.ndarray, pool: tuple[int, int], how: str) -> None:
        shown = found.window
        cells = whole[shown.q0 : shown.q1, shown.k0 : shown.k1]
        reduce = np.max if how == "max" else np.mean
        assert max(found.values.shape) <= PIXELS
        assert found.pool == pool
        assert found.how == ("exact" if pool == (1, 1) else how)
        _assert_equal(found.values, _pooled(cells, *pool, lambda block: float(reduce(block))))

    def test_a_pixel_is_the_largest_weight_under_it(
        self, n_tokens: int, window: Window | None, pool: tuple[int, int]
    ) -> None:
        capture, whole = self._whole(n_tokens)
        self._check(head_map(capture, 0, 0, window=window), whole, pool, "max")

    def test_a_pixel_is_the_mean_of_the_visible_scores_under_it(
        self, n_tokens: int, window: Window | None, pool: tuple[int, int]
    ) -> None:
        capture, whole = self._whole(n_tokens)
        found = head_map(capture, 0, 0, reading=Reading("scores"), window=window)
        self._check(found, np.log(whole), pool, "mean")


def test_words_of_a_long_text_are_pooled_too() -> None:
    capture, weights, words = _word_capture(800)
    assert PIXELS < len(words) <= 2 * PIXELS
    found = head_map(capture, 0, 0, reading=Reading(words=True))
    assert (found.how, found.pool) == ("max", (2, 2))
    _assert_equal(found.values, _pooled(_by_words(weights, words), 2, 2, lambda block: float(block.max())))


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
    assert clip_window(given, 10) == clipped
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
