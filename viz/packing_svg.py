"""Windows filled with documents, as rows of coloured segments; empty parts are outlined."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from viz.svg import MARGIN, document, element
from viz.token_text import escaped

_WIDTH, _ROW, _GAP = 460, 9, 3
_COLORS = ("#6f70c4", "#c9843d", "#4f9d8b", "#b06a92")  # adjacent colours differ, on light and on dark
_REST = "#8d8e94"

Rows = Sequence[Sequence[tuple[int, int]]]  # the documents and their lengths in each row


def windows_html(rows: Rows, window: int, about: str, *, most: int) -> str:
    """The first ``most`` rows."""
    shown = rows[:most]
    height = len(shown) * (_ROW + _GAP) + _GAP
    box = {"viewBox": f"0 0 {_WIDTH} {height}", "width": _WIDTH, "height": height}
    drawn = element("svg", *_bars(shown, window), **box, xmlns="http://www.w3.org/2000/svg")
    picture = f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"
    return f"<img src='{picture}' alt='{escaped(about)}' style='max-width:100%'>"


def windows_svg(panels: Sequence[tuple[str, Rows]], window: int, *, title: str, caption: str, most: int) -> str:
    """Several such pictures, one below the other, each with its name."""
    body: list[str] = []
    y = MARGIN + 40.0
    for name, rows in panels:
        body.append(element("text", escaped(name), x=MARGIN, y=y))
        body.append(element("g", *_bars(rows[:most], window), transform=f"translate({MARGIN} {y + 8:g})"))
        y += 40 + min(most, len(rows)) * (_ROW + _GAP)
    return document(body, width=_WIDTH + 2 * MARGIN, below=y, title=title, caption=caption)


def _bars(rows: Rows, window: int) -> list[str]:
    parts: list[str] = []
    for place, row in enumerate(rows):
        y, at = _GAP + place * (_ROW + _GAP), 0
        outline = {"fill": "none", "stroke": _REST, "stroke_width": 0.8}
        parts.append(element("rect", x=0.5, y=y, width=_WIDTH - 1, height=_ROW, **outline))
        for number, (_document, length) in enumerate(row):
            x, width = at / window * (_WIDTH - 1), length / window * (_WIDTH - 1)
            color = _COLORS[(place + number) % len(_COLORS)]
            parts.append(element("rect", x=0.5 + x, y=y, width=max(1.0, width - 1), height=_ROW, fill=color))
            at += length
    return parts
