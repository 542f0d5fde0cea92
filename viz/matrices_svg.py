"""Matrices with their numbers as self-contained SVG, for files and prints, flowing like words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from viz.color import diverging, sequential
from viz.svg import LIGHT, MARGIN, document, element, label, lines_across, rgb, text

_WIDTH = 1000
_CELL, _ROW = 46, 22
_NAMES = 44  # width of row names
_STRONG = 0.45  # opacity of the colours, under the numbers
_LEAST = 0.05  # smallest end of a matrix's own colour scale: values shown as ≈0 stay pale (matrix.js has the same)


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix with its row and column names; −∞ is masked; ``share``: weights in 0..1.

    ``most`` is the end of the colour scale of other numbers, above and below 0, in every picture; by default the
    maximum.
    """

    name: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: NDArray[np.floating]
    share: bool = field(default=False, kw_only=True)
    most: float | None = field(default=None, kw_only=True)

    @property
    def width(self) -> float:
        return _NAMES + _CELL * len(self.columns)

    @property
    def height(self) -> float:
        return 40 + _ROW * len(self.rows)


def matrices_svg(tables: Sequence[Table], *, title: str, caption: str) -> str:
    """From left to right, wrapping to the next line."""
    x, y, line = float(MARGIN), float(MARGIN + 34), 0.0
    masked = any(not np.isfinite(table.values).all() for table in tables)
    body = [lines_across("masked", LIGHT, name="atlas-masked")] if masked else []
    for table in tables:
        if x > MARGIN and x + table.width > _WIDTH - MARGIN:
            x, y, line = float(MARGIN), y + line + 14, 0.0
        body += _table(table, x, y)
        x, line = x + table.width + 22, max(line, table.height)
    return document(body, width=_WIDTH, below=y + line + 18, title=title, caption=caption)


def _table(table: Table, x: float, y: float) -> list[str]:
    shape = f"{table.name}   {table.values.shape[0]} × {table.values.shape[1]}"
    shape += "" if table.most is None else f"   ±{written(table.most)}"
    parts = [text(shape, "bold", x=x + _NAMES, y=y + 12)]
    left, top = x + _NAMES, y + 36
    parts += [
        text(label(name, 4), "quiet", x=left + (j + 0.5) * _CELL, y=top - 5, text_anchor="middle")
        for j, name in enumerate(table.columns)
    ]
    parts += [
        text(label(name, 4), "quiet", x=left - 6, y=top + i * _ROW + 15, text_anchor="end")
        for i, name in enumerate(table.rows)
    ]
    colors = _colors(table)
    for (i, j), value in np.ndenumerate(table.values):
        cell = {"x": left + j * _CELL, "y": top + i * _ROW}
        fill = rgb(colors[i, j].tolist()) if np.isfinite(value) else "url(#atlas-masked)"
        parts.append(element("rect", **cell, width=_CELL - 1, height=_ROW - 1, rx=2, fill=fill))
        place = {"x": cell["x"] + _CELL / 2, "y": cell["y"] + 15, "text_anchor": "middle"}
        parts.append(text(written(float(value)), **place))
    return parts


def written(value: float) -> str:
    """Two decimals without trailing zeros; −∞ where masked."""
    if np.isneginf(value):
        return "−∞"
    return f"{round(value, 2) + 0.0:g}".replace("-", "−")


def _colors(table: Table) -> NDArray[np.uint8]:
    values = np.where(np.isfinite(table.values), table.values, np.nan)
    if table.share:
        return sequential(_STRONG * values)[..., :3]
    most = float(np.nanmax(np.abs(values), initial=_LEAST)) if table.most is None else table.most
    return diverging(_STRONG * np.clip(values / most, -1, 1))[..., :3]
