"""One head's attention map, or a window of it, on one canvas, with token labels, pins, zoom and pan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from viz.components.color_bar import Clipped, clipped, color_ends
from viz.components.picture import (
    Bytes,
    CellOrRow,
    ColoredPicture,
    Floats,
    HeadPlace,
    NumberKind,
    Parts,
    Texts,
    Window,
    sent,
)
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "cell": N_("{query} puts {value} on {key}"),
    "masked": N_("{query} cannot see {key}"),
    "unpinned": N_("No cell is pinned."),
    "masked_label": N_("masked"),
    "left_out": N_("{query} could see {key}, but the indexer did not choose it"),
    "left_out_label": N_("not chosen"),
    "pooled": N_("largest of {n} cells: {value}"),
    "pooled_note": N_("Each pixel stands for several cells and shows the largest. Zoom in for single cells."),
    "axis_query": N_("looking (query)"),
    "axis_key": N_("looked at (key)"),
    "zoom_in": N_("zoom in"),
    "zoom_out": N_("zoom out"),
    "zoom_reset": N_("whole text"),
    "undefined": N_("masked"),
    "percent": N_("{number} %"),
}
MEAN_TEXTS: dict[str, str] = {  # if pixels show the mean of their cells
    "pooled": N_("mean of {n} cells: {value}"),
    "pooled_note": N_("Each pixel stands for several cells and shows their mean. Zoom in for single cells."),
}
CELL_TEXTS: dict[str, str] = {  # if a cell's number is not an attention weight
    "scores": N_("{query} → {key}: score {value}"),
    "value": N_("{query} → {key}: weight × length {value}"),
    "weight": N_("{query} → {key}: weight {value}"),
    "difference": N_("{query} → {key}: difference {value}"),
}


def texts_of(what: str, *, mean: bool) -> dict[str, str]:
    """The texts of a map of "weights" or one of ``CELL_TEXTS``; ``mean``: its pixels are pooled by mean."""
    return TEXTS | (MEAN_TEXTS if mean else {}) | ({"cell": CELL_TEXTS[what]} if what in CELL_TEXTS else {})


SOURCE = read_source(Path(__file__).parent, "head_map", '<div class="head-map">\n</div>')


@dataclass(frozen=True, eq=False)
class HeadMapPicture(ColoredPicture):
    """A map, or a window of it. The component sends `cell` and `window`.

    `cell` is [query, key] (units of the whole text; the centre of a pooled pixel), [query, null] after a click on a
    row's label, or null; `window` is [q0, q1, k0, k1], the visible part. Raises ValueError if values, labels, window
    and pool do not match, or a logarithmic scale starts at 0.

    Texts: `summary`, `cell` ("{query} puts {value} on {key}"; also {query_index} and {key_index}), `masked` and
    `left_out` (with the same names), `masked_label`, `left_out_label`, `pooled` ("largest of {n} cells: {value}"),
    `pooled_note`, `note` (shown under the figure), `axis_query`, `axis_key`, `zoom_in`, `zoom_out`, `zoom_reset`,
    `undefined`, `percent` ("{number} %").
    """

    values: Floats
    """[rows, columns], each pooled from up to `pool` cells; NaN where masked."""
    window: Window
    """What `values` covers, in units, stop exclusive."""
    total: Annotated[tuple[int, int], Parts(("queries", "keys"))]
    row_labels: Sequence[str]
    """One per unit in the window, or empty; `col_labels` too."""
    col_labels: Sequence[str]
    scale: Literal["sequential", "diverging"]
    low: float
    """The ends of the colour bar; a diverging scale uses the larger magnitude on both sides."""
    high: float
    log: bool
    selected: CellOrRow | None
    """A cell, a row only, or nothing."""
    pool: Annotated[tuple[int, int], Parts(("queries", "keys"))]
    """Units in one pixel."""
    number: NumberKind
    texts: Texts
    overview: Floats | None = None
    """The whole map in few pixels, for the overview of a zoomed map."""
    max_height: int = 560
    press: bool = False
    """A click, Enter or Escape sends `press` instead of `cell`, so that arrow keys only move the focus."""
    of: HeadPlace | None = None
    """The head, if quick_head may replace it before the page has run."""
    left_out: Bytes | None = None
    """1 where a cell is masked because an indexer did not select its key; it is hatched."""

    def __post_init__(self) -> None:
        """Check the input, and make a diverging scale symmetric."""
        _check(self)
        low, high = color_ends(self.low, self.high, both_sides=self.scale == "diverging")
        self._set(low=low, high=high)

    @sent
    def clipped(self) -> Clipped:
        """Whether values lie beyond the ends."""
        return clipped(self.values, self.low, self.high)

    @sent
    def has_masked(self) -> bool:
        """Whether a cell is masked, other than by an indexer's selection."""
        left_out = False if self.left_out is None else self.left_out.astype(bool)
        return bool((np.isnan(self.values) & ~np.asarray(left_out)).any())

    @sent
    def has_left_out(self) -> bool:
        """Whether a cell is masked by an indexer's selection."""
        return self.left_out is not None and bool(self.left_out.any())


def _check(picture: HeadMapPicture) -> None:
    values, pool = picture.values, picture.pool
    q0, q1, k0, k1 = picture.window
    queries, keys = picture.total
    if picture.log and not 0 < picture.low < picture.high:
        raise ValueError(f"a logarithmic scale needs 0 < low < high, not {picture.low} and {picture.high}")
    expected = (math.ceil((q1 - q0) / pool[0]), math.ceil((k1 - k0) / pool[1]))
    if not (0 <= q0 < q1 <= queries and 0 <= k0 < k1 <= keys) or values.shape != expected:
        where = f"window {picture.window} of {picture.total}"
        raise ValueError(f"values {values.shape} do not fit {where} pooled by {pool}")
    for labels, count in ((picture.row_labels, q1 - q0), (picture.col_labels, k1 - k0)):
        if len(labels) not in (0, count):
            raise ValueError(f"{len(labels)} labels for {count} units of window {picture.window}")
