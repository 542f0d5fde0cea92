"""One head's map, or a window of it, as one canvas: who looks at whom, with token labels, pins, zoom and pan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import pack
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "cell": N_("{query} looks {value} at {key}"),
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
MEAN_TEXTS: dict[str, str] = {  # where pixels show the mean of their cells
    "pooled": N_("mean of {n} cells: {value}"),
    "pooled_note": N_("Each pixel stands for several cells and shows their mean. Zoom in for single cells."),
}
CELL_TEXTS: dict[str, str] = {  # where a cell's number is no share of attention
    "scores": N_("{query} → {key}: score {value}"),
    "value": N_("{query} → {key}: weight × length {value}"),
    "weight": N_("{query} → {key}: weight {value}"),
    "difference": N_("{query} → {key}: difference {value}"),
}


def texts_of(what: str, *, mean: bool) -> dict[str, str]:
    """The words of a map that shows this, "weights" or one of ``CELL_TEXTS``; ``mean``: its pixels pool so."""
    return TEXTS | (MEAN_TEXTS if mean else {}) | ({"cell": CELL_TEXTS[what]} if what in CELL_TEXTS else {})


SOURCE = read_source(Path(__file__).parent, "head_map", '<div class="head-map">\n</div>')


def payload(
    *,
    values: NDArray[np.float32],
    window: tuple[int, int, int, int],
    total: tuple[int, int],
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    scale: Literal["sequential", "diverging"],
    low: float,
    high: float,
    log: bool,
    selected: tuple[int, int | None] | None,
    pool: tuple[int, int],
    number: Literal["percent", "plain"],
    texts: Mapping[str, str],
    overview: NDArray[np.float32] | None = None,
    max_height: int = 560,
    press: bool = False,
    of: tuple[int, int] | None = None,
    left_out: NDArray[np.bool_] | None = None,
) -> bytes:
    """The packed map. The component sends `cell` and `window`.

    `values` [rows, columns] cover the units `window` = (q0, q1, k0, k1), ends excluded, of `total` = (queries, keys);
    each value stands for up to `pool` = (rows, columns) cells, NaN for a masked one. Labels: one a unit in the window,
    or none. `low` and `high` are the ends of the colour bar: with `log` both above 0, on a diverging scale the larger
    size counts for both signs. `overview` is the whole map in few pixels, for the inset of a zoomed view.

    `cell` is [query, key] (units of the whole text; of a pooled pixel its centre), [query, null] after a click on a
    row's label, or null; `window` is [q0, q1, k0, k1], the part the reader now looks at. With `press` a click, Enter or
    Escape sends `press` in the place of `cell`, so that arrow keys only look around. `of` is the head, where quick_head
    may give another one before the page has run. `left_out` are masked cells that are so since an indexer did not
    choose their keys; they are striped.

    Texts: `summary`, `cell` ("{query} looks {value} at {key}"; also {query_index} and {key_index}), `masked` and
    `left_out` (with the same names), `masked_label`, `left_out_label`, `pooled` ("largest of {n} cells: {value}"),
    `pooled_note`, `note` (shown under the figure), `axis_query`, `axis_key`, `zoom_in`, `zoom_out`, `zoom_reset`,
    `undefined`, `percent` ("{number} %").
    """
    _check(values, window, total, row_labels, col_labels, pool)
    low, high = _ends(scale, low, high, log=log)
    arrays = {"values": values} if overview is None else {"values": values, "overview": overview}
    meta = {
        "of": None if of is None else [int(n) for n in of],
        "window": [int(edge) for edge in window],
        "total": [int(n) for n in total],
        "row_labels": list(row_labels),
        "col_labels": list(col_labels),
        "scale": scale,
        "low": float(low),
        "high": float(high),
        "log": log,
        "clipped": _clipped(values, low, high),
        "has_masked": bool((np.isnan(values) & ~_none(left_out)).any()),
        "has_left_out": bool(_none(left_out).any()),
        "selected": None if selected is None else [None if i is None else int(i) for i in selected],
        "pool": [int(n) for n in pool],
        "number": number,
        "max_height": max_height,
        "press": press,
        "texts": dict(texts),
        "palette": palette(),
    }
    floats = {name: array.astype(np.float32, copy=False) for name, array in arrays.items()}
    return pack(meta, floats if left_out is None else {**floats, "left_out": left_out.astype(np.uint8)})


def _none(left_out: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    return np.zeros((), np.bool_) if left_out is None else left_out


def _ends(scale: str, low: float, high: float, *, log: bool) -> tuple[float, float]:
    if log and not 0 < low < high:
        raise ValueError(f"a logarithmic scale needs 0 < low < high, not {low} and {high}")
    if scale == "diverging":
        high = max(abs(low), abs(high))
        low = -high
    return low, high


def _clipped(values: NDArray[np.float32], low: float, high: float) -> list[bool]:
    """Whether colours are clipped at each end of the bar, which then says ≤ or ≥; float32 rounding does not count."""
    defined = values[~np.isnan(values)]
    slack = 1e-6 * max(abs(low), abs(high))
    return [bool((defined < low - slack).any()), bool((defined > high + slack).any())]


def _check(
    values: NDArray[np.float32],
    window: tuple[int, int, int, int],
    total: tuple[int, int],
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    pool: tuple[int, int],
) -> None:
    q0, q1, k0, k1 = window
    expected = (math.ceil((q1 - q0) / pool[0]), math.ceil((k1 - k0) / pool[1]))
    if not (0 <= q0 < q1 <= total[0] and 0 <= k0 < k1 <= total[1]) or values.shape != expected:
        raise ValueError(f"values {values.shape} do not fit window {window} of {total} pooled by {pool}")
    for labels, count in ((row_labels, q1 - q0), (col_labels, k1 - k0)):
        if len(labels) not in (0, count):
            raise ValueError(f"{len(labels)} labels for {count} units of window {window}")
