"""Columns of nodes, one a token and one row a layer, with links between rows: on the page, and as an SVG file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from viz.svg import MARGIN, document, element, label
from viz.token_text import escaped

_DOWN, _TOP = 34, 30
_PITCH, _LEFT = {False: 58, True: 48}, {False: 132, True: 90}  # of columns, wide and sparse
_LIT, _REST = "#6f70c4", "#8d8e94"  # that read on light and on dark


@dataclass(frozen=True)
class DrawnLink:
    """From the node of ``start`` in ``row`` to that of ``end`` in the next row; ``share`` is its width."""

    row: int
    start: int
    end: int
    share: float
    lit: bool


@dataclass(frozen=True)
class Columns:
    """``lit`` [rows][columns] are the filled nodes, whose ways down are thick; ``end`` stands under the last column.

    ``sparse`` columns stand closer, with no nodes but the filled ones, and a way from the first to the last of each.
    """

    names: Sequence[str]
    rows: Sequence[str]
    lit: Sequence[Sequence[bool]]
    links: Sequence[DrawnLink]
    end: str
    sparse: bool = False


def columns_html(columns: Columns, about: str) -> str:
    """As wide as it is, in a part that scrolls sideways; ``about`` is what a screen reader says."""
    parts, width, height = _body(columns)
    box = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    drawn = element("svg", *parts, **box, xmlns="http://www.w3.org/2000/svg")
    picture = f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"
    image = f"<img src='{picture}' alt='{escaped(about)}' style='max-width:none'>"
    return f"<div class='atlas-wide' tabindex='0' role='region' aria-label='{escaped(about)}'>{image}</div>"


def columns_svg(columns: Columns, *, title: str, caption: str) -> str:
    """The same as a file of its own."""
    parts, width, height = _body(columns)
    moved = element("g", *parts, transform=f"translate({MARGIN} {MARGIN + 20})")
    return document([moved], width=width + 2 * MARGIN, below=height + 2 * MARGIN + 20, title=title, caption=caption)


def _body(columns: Columns) -> tuple[list[str], int, int]:
    """Ways first, nodes and words above them."""
    left, across, wide = _LEFT[columns.sparse], _PITCH[columns.sparse], 3.6 if columns.sparse else 4.4
    ways: list[str] = []
    words = [_word(name, left + across * at, 14, "middle", wide, lit=True) for at, name in enumerate(columns.names)]
    for row, name in enumerate(columns.rows):
        y = _TOP + _DOWN * row
        words.append(_word(name, left - 34, y + 4, "end", 8, lit=False))
        for place in range(len(columns.names)):
            x, lit = left + across * place, columns.lit[row][place]
            if columns.sparse and not lit:
                continue
            if row:
                above = _TOP if columns.sparse else y - _DOWN
                ways.append(_way(x, above, x, y, 2.4 if lit else 0.8, lit=lit))
            words.append(_node(x, y, lit=lit))
    for link in sorted(columns.links, key=lambda link: link.lit):
        x, x_end = (left + across * place for place in (link.start, link.end))
        y = _TOP + _DOWN * link.row
        if link.start != link.end:
            ways.append(_way(x, y, x_end, y + _DOWN, 0.6 + 4.4 * link.share, lit=link.lit))
    bottom, right = _TOP + _DOWN * len(columns.rows), left + across * (len(columns.names) - 1)
    if columns.end:
        words.append(_word(columns.end, right + 30, bottom - 8, "end", 12, lit=True))
    return [*ways, *words], right + 50, bottom + 4


def _node(x: float, y: float, *, lit: bool) -> str:
    fill = {"fill": _LIT} if lit else {"fill": "none", "stroke": _REST, "stroke_width": 1.2}
    return element("circle", cx=x, cy=y, r=5.5 if lit else 3.5, **fill)


def _way(x: float, y: float, x_end: float, y_end: float, width: float, *, lit: bool) -> str:
    ends = {"x1": x, "y1": y, "x2": x_end, "y2": y_end}
    opacity = 0.85 if lit else 0.4
    return element("line", **ends, stroke=_LIT if lit else _REST, stroke_width=width, stroke_opacity=opacity)


def _word(words: str, x: float, y: float, anchor: str, wide: float, *, lit: bool) -> str:
    place = {"x": x, "y": y, "text_anchor": anchor, "font_size": 12, "font_family": "sans-serif"}
    return element("text", escaped(label(words, wide)), **place, fill=_LIT if lit else _REST)
