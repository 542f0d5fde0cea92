"""The head map's payload: its text, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.viz.components.test_packing import unpacked
from viz.color import palette
from viz.components.head_map.head_map import HeadMapPicture

TEXTS = {
    "summary": "map of L3H1",
    "cell": "{query} ({query_index}) puts {value} on {key} ({key_index})",
    "masked": "{query} cannot see {key}",
    "masked_label": "masked",
    "pooled": "largest of {n} cells: {value}",
    "pooled_note": "Each pixel is the largest of its cells.",
    "axis_query": "looking (query)",
    "axis_key": "looked at (key)",
    "zoom_in": "Zoom in",
    "zoom_out": "Zoom out",
    "zoom_reset": "Whole map",
    "percent": "{number} %",
}


def causal(queries, keys=None):
    """Weights (q + 1) / (100 (k + 1)), so that every cell has its own, below the diagonal; NaN above."""
    q, k = np.mgrid[0:queries, 0 : keys or queries]
    return np.where(k <= q, (q + 1) / (100 * (k + 1)), np.nan).astype(np.float32)


def labelled(count, first=0):
    return [f"t{unit}" for unit in range(first, first + count)]


def head_map(n=9, window=None, pool=(1, 1), **changes):
    """The map of `causal(n)`, the whole or a window of it, pooled by the largest."""
    q0, q1, k0, k1 = window or (0, n, 0, n)
    tile = causal(n)[q0:q1, k0:k1]
    values = np.array(
        [
            [
                np.nanmax(block) if np.isfinite(block := tile[q : q + pool[0], k : k + pool[1]]).any() else np.nan
                for k in range(0, k1 - k0, pool[1])
            ]
            for q in range(0, q1 - q0, pool[0])
        ],
        dtype=np.float32,
    )
    pooled = pool != (1, 1)
    arguments: dict[str, Any] = {
        "values": values,
        "window": (q0, q1, k0, k1),
        "total": (n, n),
        "row_labels": [] if pooled else labelled(q1 - q0, q0),
        "col_labels": [] if pooled else labelled(k1 - k0, k0),
        "scale": "sequential",
        "low": 0.0,
        "high": 1.0,
        "log": False,
        "selected": None,
        "pool": pool,
        "number": "percent",
        "texts": TEXTS,
    }
    return HeadMapPicture(**(arguments | changes)).packed()


def test_the_payload_carries_values_with_nan_for_masked():
    meta, arrays = unpacked(head_map(window=(2, 6, 1, 5), selected=(5, None)))
    np.testing.assert_array_equal(arrays["values"], causal(9)[2:6, 1:5])
    assert meta["window"] == [2, 6, 1, 5]
    assert meta["row_labels"] == ["t2", "t3", "t4", "t5"]
    assert meta["selected"] == [5, None]
    assert meta["has_masked"] is True
    assert meta["palette"] == palette()
    assert unpacked(head_map(window=(6, 9, 0, 3)))[0]["has_masked"] is False


def test_a_colour_bar_shorter_than_the_values_says_at_which_end():
    assert unpacked(head_map(low=0.0, high=1.0))[0]["clipped"] == [False, False]
    assert unpacked(head_map(low=0.05, high=1.0))[0]["clipped"] == [True, False]
    assert unpacked(head_map(low=0.0, high=0.05))[0]["clipped"] == [False, True]


def test_the_largest_value_itself_is_not_clipped_by_rounding():
    high = float(np.float64(np.float32(0.09)) * (1 - 1e-8))  # what 0.09 becomes on its way through float32
    assert unpacked(head_map(high=high))[0]["clipped"] == [False, False]


def test_a_diverging_scale_is_symmetric_about_zero():
    meta, _ = unpacked(head_map(scale="diverging", low=-3.0, high=0.5, number="plain"))
    assert (meta["low"], meta["high"]) == (-3.0, 3.0)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"values": causal(8)}, r"values \(8, 8\) do not fit window \(0, 9, 0, 9\)"),
        ({"pool": (2, 2), "row_labels": [], "col_labels": [], "values": causal(4)}, r"pooled by \(2, 2\)"),
        ({"total": (8, 9)}, r"of \(8, 9\)"),
        ({"row_labels": ["a", "b"]}, "2 labels for 9 units"),
        ({"log": True, "low": 0.0}, "0 < low < high, not 0.0 and 1.0"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        head_map(**changes)


def test_the_last_pooled_pixel_may_stand_for_fewer_cells():
    meta, arrays = unpacked(head_map(n=10, pool=(4, 4)))
    assert arrays["values"].shape == (3, 3)
    assert meta["pool"] == [4, 4]
