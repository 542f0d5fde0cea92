"""A column of nodes per token and a row per layer, with links between rows: on the page, and as an SVG file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from viz.svg import MARGIN, document, element, label
from viz.token_text import escaped

_DOWN, _TOP = 34, 30
# distances of columns and margins, for wide and sparse columns
_PITCH, _LEFT, _RIGHT = {False: 58, True: 48}, {False: 132, True: 90}, 50
_NARROW, _UPRIGHT = 84, 54  # px: width of row names on a phone; columns closer than the second have slanted names
_ROOMS = (336, 520, 760, 1040)  # widths in px for which the picture is laid out
_LEAST, _MOST = 20, {False: 96, True: 72}  # px between columns
_LIT, _REST = "#6f70c4", "#8d8e94"  # visible on light and on dark


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
    """``lit`` [rows][columns] are the filled nodes, with thick lines down; ``end`` is shown under the last column.

    ``sparse`` columns are closer together, with only their filled nodes, and a line from the first to the last.
    """

    names: Sequence[str]
    rows: Sequence[str]
    lit: Sequence[Sequence[bool]]
    links: Sequence[DrawnLink]
    end: str
    sparse: bool = False


def columns_html(columns: Columns, about: str) -> str:
    """As wide as its container, scrolling sideways if needed; ``about`` is for screen readers.

    The picture is laid out for a phone, a column, and a page with little and much room; a style sheet shows one of
    them.
    """
    pitches = [pitch_for(room, columns) for room in _ROOMS]
    images = ""
    for at, pitch in enumerate(pitches):
        if pitch in pitches[:at]:
            continue
        name = " ".join(f"room-{place}" for place, one in enumerate(pitches) if one == pitch)
        parts, width, height = _body(columns, pitch, narrow=at == 0)
        box = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
        drawn = element("svg", *parts, **box, xmlns="http://www.w3.org/2000/svg")
        picture = f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"
        images += f"<img class='{name}' src='{picture}' alt='{escaped(about)}' style='max-width:none'>"
    box = f"<div class='atlas-wide' tabindex='0' role='region' aria-label='{escaped(about)}'>{images}</div>"
    return f"<style>{_css()}</style><div class='atlas-columns'>{box}</div>"


def pitch_for(room: int, columns: Columns) -> int:
    """px between two columns in a picture of this width, with a minimum that keeps the columns apart."""
    steps = max(1, len(columns.names) - 1)
    left = _NARROW if room == _ROOMS[0] else _LEFT[columns.sparse]
    return min(_MOST[columns.sparse], max(_LEAST, (room - left - _margin(room)) // steps))


def columns_svg(columns: Columns, *, title: str, caption: str) -> str:
    """The same as a file of its own."""
    parts, width, height = _body(columns, _PITCH[columns.sparse])
    moved = element("g", *parts, transform=f"translate({MARGIN} {MARGIN + 20})")
    return document([moved], width=width + 2 * MARGIN, below=height + 2 * MARGIN + 20, title=title, caption=caption)


def _margin(room: int) -> int:
    """Margin right of the last column, for its name."""
    return _RIGHT if room > _ROOMS[0] else 24


def _body(columns: Columns, across: int, *, narrow: bool = False) -> tuple[list[str], int, int]:
    """Lines first, nodes and words on top; columns that are close together have slanted names."""
    left = _NARROW if narrow else _LEFT[columns.sparse]
    aslant, past = across < _UPRIGHT, _margin(_ROOMS[0] if narrow else _ROOMS[-1])
    top = 76 if aslant else _TOP
    ways: list[str] = []
    words = [
        _aslant(name, left + across * at, top - 14)
        if aslant
        else _word(name, left + across * at, 14, "middle", across / 13, lit=True)
        for at, name in enumerate(columns.names)
    ]
    for row, name in enumerate(columns.rows):
        y = top + _DOWN * row
        words.append(_word(name, left - (14 if narrow else 34), y + 4, "end", 8, lit=False))
        for place in range(len(columns.names)):
            x, lit = left + across * place, columns.lit[row][place]
            if columns.sparse and not lit:
                continue
            if row:
                above = top if columns.sparse else y - _DOWN
                ways.append(_way(x, above, x, y, 2.4 if lit else 0.8, lit=lit))
            words.append(_node(x, y, lit=lit))
    for link in sorted(columns.links, key=lambda link: link.lit):
        x, x_end = (left + across * place for place in (link.start, link.end))
        y = top + _DOWN * link.row
        if link.start != link.end:
            ways.append(_way(x, y, x_end, y + _DOWN, 0.6 + 4.4 * link.share, lit=link.lit))
    bottom, right = top + _DOWN * len(columns.rows), left + across * (len(columns.names) - 1)
    if columns.end:
        words.append(_word(columns.end, right + min(30, past), bottom - 8, "end", 12, lit=True))
    return [*ways, *words], right + past, bottom + 4


def _node(x: float, y: float, *, lit: bool) -> str:
    fill = {"fill": _LIT} if lit else {"fill": "none", "stroke": _REST, "stroke_width": 1.2}
    return element("circle", cx=x, cy=y, r=5.5 if lit else 3.5, **fill)


def _way(x: float, y: float, x_end: float, y_end: float, width: float, *, lit: bool) -> str:
    ends = {"x1": x, "y1": y, "x2": x_end, "y2": y_end}
    opacity = 0.85 if lit else 0.4
    return element("line", **ends, stroke=_LIT if lit else _REST, stroke_width=width, stroke_opacity=opacity)


def _aslant(words: str, x: float, y: float) -> str:
    """A column's name, slanted upwards from its first node."""
    turn = {"transform": f"rotate(-58 {x} {y})"}
    place = {"x": x, "y": y, "text_anchor": "start", "font_size": 12, "font_family": "sans-serif"}
    return element("text", escaped(label(words, 5.6)), **place, **turn, fill=_LIT)


def _word(words: str, x: float, y: float, anchor: str, wide: float, *, lit: bool) -> str:
    place = {"x": x, "y": y, "text_anchor": anchor, "font_size": 12, "font_family": "sans-serif"}
    return element("text", escaped(label(words, wide)), **place, fill=_LIT if lit else _REST)


@cache
def _css() -> str:
    return (Path(__file__).parent / "streams.css").read_text(encoding="utf-8")
