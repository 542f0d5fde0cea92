"""Keys that an indexer left out: each cell matches the masks, pooled or not, and the row of one query."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.aligned_heads import aligned_heads
from analysis.chosen_keys import index_row, leaves_out
from analysis.head_grid import head_grid
from analysis.head_map import Reading, Window, head_map
from model_runner.edits import Blocked, ChosenKeys
from model_runner.errors import NoIndexer
from model_runner.request import CaptureRequest
from tests.model_runner.cases import TEXT, case_of, shared_runner


def left_out(chosen: torch.Tensor) -> np.ndarray:
    n_tokens = len(chosen)
    return np.array(
        [[key <= query and not bool(chosen[query, key]) for key in range(n_tokens)] for query in range(n_tokens)]
    )


def test_a_map_tells_keys_that_were_not_chosen_from_those_after_the_query() -> None:
    capture = case_of("glm-moe-dsa").capture
    found, expected = head_map(capture, 1, 2), left_out(capture.chosen_keys(1))
    assert found.left_out is not None
    assert np.array_equal(found.left_out, expected)
    assert np.isnan(found.values[found.left_out]).all()
    assert expected.sum() > 100
    part = head_map(capture, 1, 2, window=Window(9, 20, 3, 12))
    assert part.left_out is not None
    assert np.array_equal(part.left_out, expected[9:20, 3:12])


def test_a_pixel_of_several_cells_is_left_out_where_none_of_them_is_read() -> None:
    capture = case_of("glm-moe-dsa").capture
    found, whole = head_map(capture, 0, 1, pixels=9), head_map(capture, 0, 1)
    assert found.pool == (4, 4)
    assert found.left_out is not None
    cells = left_out(capture.chosen_keys(0))
    for row in range(9):
        for column in range(9):
            some = np.s_[4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
            assert found.left_out[row, column] == (np.isnan(whole.values[some]).all() and cells[some].any())
    assert found.left_out.any()


def test_words_and_hidden_cells_keep_the_difference() -> None:
    capture = shared_runner("glm-moe-dsa").capture(CaptureRequest(TEXT, edits=(Blocked(((20, 3),)),)))
    found = head_map(capture, 0, 0)
    assert found.left_out is not None
    assert not found.left_out[20, 3]  # it is hidden by the request, chosen or not
    words = head_map(capture, 0, 0, reading=Reading(words=True))
    assert words.left_out is not None
    assert words.left_out.shape == words.values.shape


@pytest.mark.parametrize("name, layer", [("llama", 0), ("dots3-note", 1)])
def test_a_layer_that_reads_every_key_leaves_none_out(name: str, layer: int) -> None:
    capture = case_of(name).capture
    assert not leaves_out(capture, layer)
    assert head_map(capture, layer, 0).left_out is None
    with pytest.raises(NoIndexer):
        index_row(capture, layer, 0, 3)


def test_a_text_shorter_than_what_is_chosen_leaves_none_out() -> None:
    capture = shared_runner("glm-moe-dsa").capture(CaptureRequest("abc"))
    assert not leaves_out(capture, 0)
    assert head_map(capture, 0, 0).left_out is None
    row = index_row(capture, 0, 0, 2)
    assert (row.keys, row.chosen.tolist(), row.missed) == ((0, 1, 2), [True] * 3, 0.0)


def test_a_row_has_the_scores_of_the_keys_that_the_query_may_see() -> None:
    capture, query = case_of("glm-moe-dsa").capture, 20
    row = index_row(capture, 1, 3, query)
    assert (row.query, row.by, row.top_k, row.keys) == (query, 0, 5, tuple(range(query + 1)))
    np.testing.assert_allclose(row.scores, capture.index_scores(0)[query, : query + 1], atol=1e-5)
    assert row.chosen.sum() == 5
    assert row.scores[row.chosen].min() >= row.scores[~row.chosen].max()
    assert row.missed == pytest.approx(float(capture.missed_share(1, 3)[query]), abs=1e-6)


@pytest.mark.parametrize("name, layer", [("glm-moe-dsa", 1), ("dots3-note", 2)])
def test_a_thumbnail_tells_keys_that_were_not_chosen_from_those_after_the_query(name: str, layer: int) -> None:
    capture = case_of(name).capture
    grid = head_grid(capture)
    side, n_tokens = grid.keep.shape[-1], len(capture.tokens)
    assert side == n_tokens  # a pixel a cell
    assert grid.left_out is not None
    assert np.array_equal(grid.left_out[layer] > 0, left_out(capture.chosen_keys(layer)))
    assert not (grid.left_out & grid.keep).any()
    if name == "dots3-note":
        assert not grid.left_out[1].any()  # a layer that reads a window, by no indexer
    assert head_grid(case_of("llama").capture).left_out is None


def test_two_heads_beside_each_other_keep_the_difference() -> None:
    capture = case_of("glm-moe-dsa").capture
    more = shared_runner("glm-moe-dsa").capture(CaptureRequest(capture.text, edits=(ChosenKeys(9),)))
    found = aligned_heads(capture, (0, 0), more, (0, 0))
    own, others = (left_out(one.chosen_keys(0)) for one in (capture, more))
    for side, expected in zip(found.maps, (own, others, own | others), strict=True):
        assert side.left_out is not None
        assert np.array_equal(side.left_out, expected)
    assert (own != others).any()
    llama = case_of("llama").capture
    assert aligned_heads(llama, (0, 0), llama, (1, 0)).difference.left_out is None
