"""A number for every head of every layer, or for every layer and position, as coloured cells of one canvas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import pack
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

SOURCE = read_source(Path(__file__).parent, "layer_head_map", '<div class="layer-head-map">\n</div>')

TEXTS: dict[str, str] = {
    "summary": N_("{title}: {rows} down, {columns} across. Arrow keys move, Enter opens a cell."),
    "rows": N_("layers"),
    "columns": N_("heads"),
    "cell": N_("{row}{column} · {value}"),
    "missing": N_("{row}{column} · {value}"),
    "undefined": N_("not defined here"),
    "shared": N_("{heads} share k and v"),
    "percent": N_("{number} %"),
}


def payload(
    values: NDArray[np.floating],
    *,
    title: str,
    scale: Literal["signed", "sequential"],
    low: float,
    high: float,
    number: Literal["percent", "plain"],
    open: tuple[int, int] | None,
    texts: Mapping[str, str],
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    notes: Mapping[int, str] | None = None,
    words: Sequence[Sequence[str]] | None = None,
    whole: float | None = None,
    max_height: int = 360,
    group: int = 1,
    group_axis: Literal["rows", "columns"] = "columns",
    shows: str = "",
    first_column: int = 0,
) -> bytes:
    """The packed map of `values` [rows, columns], NaN where there is none. It sends `head`: [row, column] of a click.

    A signed scale runs from blue over the background's tone, which is exactly 0, to red, the larger of |low| and |high|
    at both ends. A sequential one runs from `low` to `high`. Values beyond are clipped, and the bar says so.
    Without labels rows are L0, L1, … and columns H0, H1, …; given column labels are slanted where they do not fit.
    `open` is outlined. `notes` are rows that have no cells but this text, and cannot be clicked.
    `words` [rows, columns] stand in the cells, which are wider for them, instead of numbers; texts may use {word}.
    Of heads along `group_axis`, `group` neighbours share one key and value head: they stand together under one line,
    and the open head's group is marked; unless each head has its own, or all share one. On a narrow screen a click
    scrolls to the part of the page with the key `shows`.

    Texts: as `TEXTS`. `cell`, and `missing` for one without a number, may use {row}, {column}, {value}, {row_index},
    {column_index}, counted from `first_column`, and, as a percentage of `whole`, {share}; `summary`, what a screen
    reader is told of the map, may use {title}, {rows} and {columns}.
    """
    _check_labels(values, row_labels, column_labels)
    low, high = _ends(scale, low, high)
    meta = {
        "title": title,
        "scale": scale,
        "low": float(low),
        "high": float(high if high > low else low + 1.0),
        "clipped": _clipped(values, low, high),
        "number": number,
        "open": None if open is None else [int(i) for i in open],
        "row_labels": None if row_labels is None else list(row_labels),
        "column_labels": None if column_labels is None else list(column_labels),
        "notes": {str(row): text for row, text in (notes or {}).items()},
        "words": None if words is None else [list(row) for row in words],
        "whole": whole,
        "max_height": max_height,
        "group": int(group),
        "group_axis": group_axis,
        "shows": shows,
        "first_column": int(first_column),
        "texts": dict(texts),
        "palette": palette(),
    }
    return pack(meta, {"values": values.astype(np.float32)})


def _check_labels(values: NDArray[np.floating], *named: Sequence[str] | None) -> None:
    rows, columns = values.shape
    for labels, count in zip(named, (rows, columns), strict=True):
        if labels is not None and len(labels) != count:
            raise ValueError(f"{len(labels)} labels for {count} rows or columns of {rows} × {columns} values")


def _ends(scale: str, low: float, high: float) -> tuple[float, float]:
    """The ends of the colours: of a signed scale the larger size, on both sides."""
    largest = max(abs(low), abs(high))
    return (-largest, largest) if scale == "signed" else (low, high)


def _clipped(values: NDArray[np.floating], low: float, high: float) -> list[bool]:
    """Whether colours are clipped at each end of the bar, which then says ≤ or ≥; float32 rounding does not count."""
    defined = values[~np.isnan(values)]
    slack = 1e-6 * max(abs(low), abs(high))
    return [bool((defined < low - slack).any()), bool((defined > high + slack).any())]
