"""One cell of a head as self-contained SVG, for files and prints: its vectors, its sums and its row of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.svg import LIGHT, MARGIN, document, element, label, rgb, text

_WIDTH = 1000
_LEFT = MARGIN + 120  # x at which bars start
_SPAN = _WIDTH - MARGIN - 70 - _LEFT
_HEIGHT = 56  # height of a vector's bars
_ROW = 22  # height of a key's row
_INK = "#36339a"


@dataclass(frozen=True, eq=False)
class VectorBars:
    """A named vector with one bar per dimension, scaled to its own maximum; ``side`` is "query", "key" or empty."""

    name: str
    values: NDArray[np.floating]
    side: str = ""


@dataclass(frozen=True)
class KeyWeight:
    """A key of the row with its weight, also in words; ``chosen`` marks the cell's own key."""

    name: str
    share: float
    words: str
    chosen: bool


def cell_svg(
    score: Sequence[VectorBars],
    sums: Sequence[str],
    weights: Sequence[KeyWeight],
    values: Sequence[VectorBars],
    *,
    title: str,
    caption: str,
) -> str:
    """From top to bottom: the vectors of the score, the sums made of them, the row's weights, the values."""
    y = MARGIN + 40.0
    body: list[str] = []
    for bars in score:
        body += _bars(bars, y)
        y += _HEIGHT + 14
    for line in sums:
        body.append(text(line, "bold", x=_LEFT, y=y + 10))
        y += 20
    y += 12
    for weight in weights:
        body += _weight(weight, y)
        y += _ROW
    y += 18
    for bars in values:
        body += _bars(bars, y)
        y += _HEIGHT + 14
    return document(body, width=_WIDTH, below=y + 16, title=title, caption=caption, room=4)


def _color(side: str) -> str:
    return rgb(palette()[side]["light"]) if side else _INK


def _bars(bars: VectorBars, top: float) -> list[str]:
    largest = float(np.abs(bars.values).max(initial=0.0)) or 1.0
    pitch, middle = _SPAN / len(bars.values), top + _HEIGHT / 2
    drawn = [
        element(
            "rect",
            x=_LEFT + i * pitch + pitch * 0.1,
            y=middle - max(value, 0.0) / largest * _HEIGHT / 2,
            width=pitch * 0.8,
            height=abs(value) / largest * _HEIGHT / 2,
        )
        for i, value in enumerate(bars.values.tolist())
    ]
    return [
        text(label(bars.name, 8.5), "bold", x=_LEFT - 12, y=middle + 4, text_anchor="end"),
        element("path", d=f"M{_LEFT} {middle}H{_LEFT + _SPAN}", stroke=LIGHT.rule),
        element("g", *drawn, fill=_color(bars.side)),
        text(f"\u00b1{largest:.3g}", "quiet", x=_LEFT + _SPAN + 8, y=middle + 4),
    ]


def _weight(weight: KeyWeight, top: float) -> list[str]:
    kind = "bold" if weight.chosen else "quiet"
    ink = _color("key") if weight.chosen else _INK
    return [
        text(label(weight.name, 8.5), kind, x=_LEFT - 12, y=top + 13, text_anchor="end"),
        element("rect", x=_LEFT, y=top + 2, width=weight.share * _SPAN, height=_ROW - 8, fill=ink),
        text(weight.words, kind, x=_LEFT + weight.share * _SPAN + 8, y=top + 13),
    ]
