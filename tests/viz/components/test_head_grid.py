"""The head grid's payload: its text, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.viz.components.test_packing import unpacked
from viz.color import palette
from viz.components.head_grid.head_grid import HeadGridPicture

LAYERS, HEADS, N = 4, 6, 8
TEXTS = {
    "summary": "4 layers of 6 heads",
    "head": "{head} · {metric} {value}",
    "metric": "previous token",
    "undefined": "not defined",
    "no_weights": "no weights <b>here</b>",
    "percent": "{number} %",
    "more": "{count} more below",
}


def grid(layers=LAYERS, heads=HEADS, **changes):
    """A grid whose metric is the flat index over 100, and whose heads look only at themselves."""
    thumbnails = np.broadcast_to((255 * np.eye(N)).astype(np.uint8), (layers, heads, N, N))
    arguments: dict[str, Any] = {
        "thumbnails": thumbnails,
        "keep": np.broadcast_to(np.tril(np.ones((N, N), np.uint8)), (layers, N, N)),
        "metric": (np.arange(layers * heads, dtype=np.float32) / 100).reshape(layers, heads),
        "mode": "maps",
        "order": None,
        "layer_has_weights": [True] * layers,
        "selected": (1, 2),
        "compare": None,
        "groups": 1,
        "texts": TEXTS,
        "number": "percent",
    }
    return HeadGridPicture(**(arguments | changes)).packed()


def test_the_payload_carries_pictures_metric_and_order():
    meta, arrays = unpacked(grid(order=np.array([3, 1]), compare=(0, 5)))
    assert arrays["thumbnails"].shape == (LAYERS, HEADS, N, N)
    assert arrays["order"].tolist() == [3, 1]
    assert arrays["metric"][1, 2] == np.float32(0.08)
    assert (meta["selected"], meta["compare"]) == ([1, 2], [0, 5])
    assert meta["palette"] == palette()
    assert "order" not in unpacked(grid())[1]


@pytest.mark.parametrize(
    "metric, expected",
    [
        ([[0.25, np.nan], [0.5, 0.75]], (0.0, 0.75)),  # frames are as strong as the share of the largest
        ([[-2.0, 1.0], [0.0, np.nan]], (-2.0, 1.0)),
        ([[np.nan, np.nan], [np.nan, np.nan]], (0.0, 1.0)),
        ([[0.0, 0.0], [0.0, 0.0]], (0.0, 1.0)),
    ],
)
def test_frames_run_from_zero_to_the_largest_defined_metric(metric, expected):
    meta, _ = unpacked(grid(2, 2, metric=np.array(metric, dtype=np.float32)))
    assert (meta["low"], meta["high"]) == expected


def test_arrays_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match=r"4 layers × 6 heads .* metric \(2, 2\)"):
        grid(metric=np.zeros((2, 2), dtype=np.float32))
