"""The layer × head map's payload: its text, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.viz.components.test_packing import unpacked
from viz.color import palette
from viz.components.layer_head_map.layer_head_map import TEXTS, LayerHeadMapPicture

LAYERS, HEADS = 4, 6
VALUES = (np.arange(LAYERS * HEADS, dtype=np.float64).reshape(LAYERS, HEADS) - 12) / 12  # −1 … 0.92; 0 at L2H0


def cells(values=VALUES, **changes):
    """A signed map of numbers from −1 to 0.92, with L1H2 open."""
    arguments: dict[str, Any] = {
        "title": "effects",
        "scale": "signed",
        "low": -1.0,
        "high": 1.0,
        "number": "plain",
        "open": (1, 2),
        "texts": TEXTS,
    }
    return LayerHeadMapPicture(values, **(arguments | changes)).packed()


def test_the_payload_carries_values_scale_and_the_open_cell():
    meta, arrays = unpacked(cells())
    np.testing.assert_array_equal(arrays["values"], VALUES.astype(np.float32))
    assert (meta["low"], meta["high"], meta["open"]) == (-1.0, 1.0, [1, 2])
    assert meta["palette"] == palette()
    assert meta["clipped"] == [False, False]
    assert unpacked(cells(open=None))[0]["open"] is None


def test_heads_are_columns_of_their_own_unless_a_group_is_given():
    meta, _ = unpacked(cells())
    assert (meta["group"], meta["group_axis"]) == (1, "columns")
    meta, _ = unpacked(cells(group=2, group_axis="rows"))
    assert (meta["group"], meta["group_axis"]) == (2, "rows")


def test_a_signed_scale_has_zero_in_its_middle():
    meta, _ = unpacked(cells(low=-0.2, high=0.5))
    assert (meta["low"], meta["high"]) == (-0.5, 0.5)


def test_values_beyond_the_scale_are_said_to_be_clipped_and_gaps_are_none():
    values = VALUES.copy()
    values[0] = np.nan
    assert unpacked(cells(values, low=-0.4, high=0.4))[0]["clipped"] == [True, True]
    assert unpacked(cells(np.full((2, 2), np.nan)))[0]["clipped"] == [False, False]


def test_a_scale_without_extent_still_has_two_ends():
    meta, _ = unpacked(cells(np.zeros((2, 2)), scale="sequential", low=0.0, high=0.0, open=None))
    assert (meta["low"], meta["high"]) == (0.0, 1.0)


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="3 labels for 6 rows or columns of 4 × 6 values"):
        cells(column_labels=["a", "b", "c"])


def test_words_stand_in_the_cells_where_they_are_given():
    words = [[f"{row}{column}" for column in range(HEADS)] for row in range(LAYERS)]
    assert unpacked(cells(words=words))[0]["words"] == words
    assert unpacked(cells())[0]["words"] is None
