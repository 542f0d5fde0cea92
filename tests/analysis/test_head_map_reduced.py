"""A map that is smaller than the matrix, by words or by pixels, equals loops over the whole."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from analysis.head_map import PIXELS, HeadMap, Reading, Window, head_map, units_of
from analysis.units import Unit
from model_runner import Capture
from tests.analysis.expected import CLOSE, NAN, assert_equal, visible, without_first
from tests.analysis.made import as_float64, causal_noise, made_capture


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
    assert_equal(found.values, _by_words(weights, words))
    assert np.nansum(found.values, axis=1) == pytest.approx(1.0, abs=CLOSE)  # rows still sum to 1


def test_a_window_of_words_is_the_slice_of_the_whole() -> None:
    capture, weights, words = _word_capture(60)
    found = head_map(capture, 0, 0, reading=Reading(words=True), window=Window(2, 9, 1, 6))
    assert_equal(found.values, _by_words(weights, words)[2:9, 1:6])


def test_words_of_values_and_of_renormalised_weights_are_made_of_those() -> None:
    capture, weights, words = _word_capture(30)
    lengths = np.linalg.norm(as_float64(capture.v(0)[0]), axis=-1)
    found = head_map(capture, 0, 0, reading=Reading("value", words=True))
    assert_equal(found.values, _by_words(weights * lengths, words))
    found = head_map(capture, 0, 0, reading=Reading(hide_first=True, words=True))
    rest = _by_words(np.nan_to_num(without_first(weights)), words)
    if len(words[0]) == 1:
        rest[:, 0] = NAN
    assert_equal(found.values, rest)


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
        return made_capture(weights), np.where(visible(n_tokens), as_float64(weights[0, 0]), NAN)

    def _check(self, found: HeadMap, whole: np.ndarray, pool: tuple[int, int], how: str) -> None:
        shown = found.window
        cells = whole[shown.q0 : shown.q1, shown.k0 : shown.k1]
        reduce = np.max if how == "max" else np.mean
        assert max(found.values.shape) <= PIXELS
        assert found.pool == pool
        assert found.how == ("exact" if pool == (1, 1) else how)
        assert_equal(found.values, _pooled(cells, *pool, lambda block: float(reduce(block))))

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

    def test_a_pixel_knows_the_tokens_under_it(
        self, n_tokens: int, window: Window | None, pool: tuple[int, int]
    ) -> None:
        capture, whole = self._whole(n_tokens)
        found = head_map(capture, 0, 0, window=window)
        shown = found.window
        ends = {(0, 0): (shown.q0, shown.k0), (-1, -1): (shown.q1 - 1, shown.k1 - 1)}
        for pixel, place in ends.items():
            queries, keys = found.tokens_at(*place)
            assert place[0] in queries
            assert place[1] in keys
            under = _pooled(whole[np.ix_(queries, keys)], *pool, lambda block: float(block.max()))
            assert_equal(found.values[pixel], under[0, 0])


def test_words_of_a_long_text_are_pooled_too() -> None:
    capture, weights, words = _word_capture(800)
    assert PIXELS < len(words) <= 2 * PIXELS
    found = head_map(capture, 0, 0, reading=Reading(words=True))
    assert (found.how, found.pool) == ("max", (2, 2))
    assert_equal(found.values, _pooled(_by_words(weights, words), 2, 2, lambda block: float(block.max())))
