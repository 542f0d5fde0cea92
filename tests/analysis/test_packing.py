"""Documents in windows: nothing is lost, no row is overfull, and packing wastes less."""

from __future__ import annotations

import random

import pytest

from analysis.packing import one_a_row, packed

LENGTHS = [random.Random(3).randint(1, 90) for _ in range(60)]


@pytest.mark.parametrize("way", [one_a_row, packed])
@pytest.mark.parametrize("window", [16, 64, 512])
def test_every_token_stands_in_a_row_that_has_room(way, window):
    found = way(LENGTHS, window)
    assert all(0 < sum(piece.length for piece in row) <= window for row in found.rows)
    for document, length in enumerate(LENGTHS):
        assert sum(piece.length for row in found.rows for piece in row if piece.document == document) == length
    assert found.padding == pytest.approx(1 - sum(LENGTHS) / (window * len(found.rows)))


def test_packing_needs_fewer_rows_and_no_more_than_its_bound():
    alone, together = one_a_row(LENGTHS, 128), packed(LENGTHS, 128)
    assert len(alone.rows) == len(LENGTHS)
    fewest = -(-sum(LENGTHS) // 128)
    assert fewest <= len(together.rows) <= 11 / 9 * fewest + 1
    assert together.padding < 0.1 < alone.padding


def test_without_documents_nothing_is_padding():
    assert packed([], 64).padding == one_a_row([], 64).padding == 0
    assert [len(row) for row in packed([3, 4, 1], 4).rows] == [1, 2]
