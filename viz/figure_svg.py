"""The head map as a self-contained SVG: its cells are one embedded picture, everything else is vector and text.

For files and prints; on the screen the head_map component draws the same figure. Knows nothing about heads or models.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from viz.color import diverging, palette, sequential
from viz.token_text import ems, escaped, shortened, wrapped

N_ = str

TEXTS: dict[str, str] = {
    "row_axis": N_("looking (query)"),
    "column_axis": N_("looked at (key)"),
    "masked": N_("masked"),
    "percent": N_("{number} %"),
}

_SIDE = 520  # the longer side of the cells, roughly
_FONT = 12
_LABEL_EMS = 11.0  # longer labels are cut
_SLOPE = math.radians(60)
_BAR = (14, 168)  # width and height of the colour bar
_MARGIN = 20
_INK = {
    False: {"background": "#fcfcfa", "text": "#1a1c22", "quiet": "#6c6d71"},
    True: {"background": "#14151a", "text": "#e6e6e1", "quiet": "#9d9d9b"},
}


@dataclass(frozen=True)
class _Frame:
    """Where things are, in SVG units: the column axis' word, the cells' corner, one cell, and the whole figure."""

    word: float
    left: float
    top: float
    cell: float
    rows: int
    columns: int
    width: float
    captions: tuple[str, ...]

    @property
    def right(self) -> float:
        return self.left + self.cell * self.columns

    @property
    def bottom(self) -> float:
        return self.top + self.cell * self.rows

    @property
    def height(self) -> float:
        return max(self.bottom, self.top + _BAR[1] + 40) + 22 + 16 * len(self.captions) + _MARGIN / 2


def map_svg(
    values: NDArray[np.floating],
    *,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    scale: Literal["sequential", "diverging"],
    low: float,
    high: float,
    log: bool,
    title: str,
    caption: str,
    dark: bool = False,
    number: Literal["percent", "plain"] = "percent",
    texts: Mapping[str, str] | None = None,
) -> str:
    """The figure as SVG text; `values` [rows, columns] are drawn from `low` to `high`, clipped, NaN as masked.

    With `log` the colour is linear in log(value), so `low` must be positive; a diverging scale runs from -m to m, m the
    larger of |low| and |high|, and has no logarithm. Labels may be empty lists (a pooled picture); every string is
    escaped here. Nothing outside the file is referred to.
    """
    rows, columns = values.shape
    for name, labels, count in (("row", row_labels, rows), ("column", col_labels, columns)):
        if labels and len(labels) != count:
            raise ValueError(f"{len(labels)} {name} labels for {count} {name}s")
    if log and (scale == "diverging" or low <= 0):
        raise ValueError("a logarithmic colour needs the sequential scale and a positive low end")
    words = {**TEXTS, **(texts or {})}
    template = words["percent"] if number == "percent" else ""
    frame = _frame(rows, columns, row_labels, col_labels, title, caption)
    paint = diverging if scale == "diverging" else sequential
    pixels = paint(_placed(values, scale, low, high, log), dark=dark)[..., :3]
    body = [
        _cells(pixels, frame, _INK[dark]["background"]),
        _row_labels(row_labels, frame),
        _column_labels(col_labels, frame),
        _axis_words(words, frame, labelled=bool(row_labels), dark=dark),
        _color_bar(frame, _ticks(scale, low, high, log, template), scale, dark=dark),
    ]
    if np.isnan(values).any():
        body.append(_masked_swatch(words["masked"], frame, dark=dark))
    return _document(body, frame, title, caption, dark=dark)


# ---- the scale ------------------------------------------------------------------------------------------------------


def _placed(
    values: NDArray[np.floating] | Sequence[float], scale: str, low: float, high: float, log: bool
) -> NDArray[np.float64]:
    """Where on the colour scale the values lie: 0..1, or -1..1 on the diverging one. NaN stays NaN."""
    exact = np.asarray(values, dtype=np.float64)
    if scale == "diverging":
        return exact / (max(abs(low), abs(high)) or 1.0)
    if log:
        with np.errstate(divide="ignore", invalid="ignore"):  # a weight of 0 lies below every low end
            exact = np.log(exact)
        low, high = math.log(low), math.log(high)
    return (exact - low) / ((high - low) or 1.0)


def _ticks(scale: str, low: float, high: float, log: bool, percent: str) -> list[tuple[float, str]]:
    """Height on the colour bar (0 bottom, 1 top) and text of each tick, plain where there is no `percent` template."""
    if scale == "diverging":
        most = max(abs(low), abs(high))
        marks = [-most, 0.0, most]
        heights = [0.0, 0.5, 1.0]
    elif log:
        decades = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
        marks = [10.0**power for power in decades]
        heights = _placed(marks, scale, low, high, log).tolist()
    else:
        marks = [low, (low + high) / 2, high]
        heights = [0.0, 0.5, 1.0]
    return [(height, _number(mark, percent)) for height, mark in zip(heights, marks, strict=True)]


def _number(value: float, percent: str) -> str:
    text = percent.format(number=f"{100 * value:.3g}") if percent and value else f"{value:.3g}"
    return text.replace("-", "\u2212")


# ---- the parts ------------------------------------------------------------------------------------------------------


def _frame(
    rows: int, columns: int, row_labels: Sequence[str], col_labels: Sequence[str], title: str, caption: str
) -> _Frame:
    cell = min(26.0, max(1.0, math.floor(_SIDE / max(rows, columns, 1))))
    widest_row = max((ems(label) for label in row_labels), default=0)
    widest_column = max((ems(label) for label in col_labels), default=0)
    tall = min(widest_column, _LABEL_EMS + 1) * _FONT
    left = _MARGIN + 22 + min(widest_row, _LABEL_EMS + 1) * _FONT + 6
    word = _MARGIN + (42 if title else 12)
    top = word + 14 + tall * math.sin(_SLOPE)
    right = left + cell * columns
    width = max(right + 24 + _BAR[0] + 64, right + tall * math.cos(_SLOPE) + 8, ems(title) * 15 + 2 * _MARGIN, 420.0)
    captions = tuple(line for part in caption.splitlines() for line in wrapped(part, (width - 2 * _MARGIN) / 11))
    return _Frame(word, left, top, cell, rows, columns, width, captions)


def _cells(pixels: NDArray[np.uint8], frame: _Frame, background: str) -> str:
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    # Not every reader of SVG knows image-rendering, so the cells are enlarged here: at twice the drawn size smoothing
    # blurs no more than a line of pixels.
    factor = max(1, math.ceil(2 * frame.cell))
    picture = picture.resize((frame.columns * factor, frame.rows * factor), Image.Resampling.NEAREST)
    data = io.BytesIO()
    picture.save(data, format="PNG", optimize=True)
    address = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode('ascii')}"
    width, height = frame.right - frame.left, frame.bottom - frame.top
    box = f'x="{frame.left:g}" y="{frame.top:g}" width="{width:g}" height="{height:g}"'
    image = f'<image {box} preserveAspectRatio="none" style="image-rendering:pixelated" href="{address}"/>'
    return image + (_separators(frame, background) if frame.cell >= 10 else "")


def _separators(frame: _Frame, color: str) -> str:
    across = "".join(f"M{frame.left:g} {frame.top + i * frame.cell:g}H{frame.right:g}" for i in range(1, frame.rows))
    down = "".join(f"M{frame.left + i * frame.cell:g} {frame.top:g}V{frame.bottom:g}" for i in range(1, frame.columns))
    return f'<path d="{across}{down}" stroke="{color}" stroke-width="0.8" fill="none"/>'


def _row_labels(labels: Sequence[str], frame: _Frame) -> str:
    step = max(1, math.ceil((_FONT + 1) / frame.cell))
    x = frame.left - 6
    texts = [
        f'<text x="{x:g}" y="{frame.top + (i + 0.5) * frame.cell + 4:g}">{_label(labels[i])}</text>'
        for i in range(0, len(labels), step)
    ]
    return f'<g text-anchor="end">{"".join(texts)}</g>'


def _column_labels(labels: Sequence[str], frame: _Frame) -> str:
    step = max(1, math.ceil((_FONT + 1) / frame.cell))
    y = frame.top - 6
    places = ((frame.left + (i + 0.5) * frame.cell + 3, labels[i]) for i in range(0, len(labels), step))
    return "".join(
        f'<text transform="translate({x:g} {y:g}) rotate(-60)">{_label(label)}</text>' for x, label in places
    )


def _label(text: str) -> str:
    # Direction marks: a right-to-left token must not reorder what stands beside it.
    return f"\u2068{escaped(shortened(text, _LABEL_EMS))}\u2069"


def _axis_words(words: Mapping[str, str], frame: _Frame, *, labelled: bool, dark: bool) -> str:
    x, y = (_MARGIN + 10 if labelled else frame.left - 10), (frame.top + frame.bottom) / 2
    middle = (frame.left + frame.right) / 2
    side = "dark" if dark else "light"
    query, key = (f'style="fill:rgb{tuple(palette()[name][side])}"' for name in ("query", "key"))
    return (
        f'<g text-anchor="middle" class="axis"><text transform="translate({x:g} {y:g}) rotate(-90)" {query}>'
        f"{escaped(words['row_axis'])}</text>"
        f'<text x="{middle:g}" y="{frame.word:g}" {key}>{escaped(words["column_axis"])}</text></g>'
    )


def _color_bar(frame: _Frame, ticks: list[tuple[float, str]], scale: str, *, dark: bool) -> str:
    x, y, (width, height) = frame.right + 24, frame.top, _BAR
    side = "dark" if dark else "light"
    stops = "".join(
        f'<stop offset="{point[0]:g}" stop-color="rgb({point[1]},{point[2]},{point[3]})"/>'
        for point in palette()[scale][side]
        if isinstance(point, list)
    )
    gradient = f'<linearGradient id="atlas-scale" x1="0" y1="1" x2="0" y2="0">{stops}</linearGradient>'
    marks = "".join(
        f'<text x="{x + width + 7:g}" y="{y + height * (1 - at) + 4:g}">{escaped(text)}</text>' for at, text in ticks
    )
    bar = f'<rect x="{x:g}" y="{y:g}" width="{width}" height="{height}" rx="1" fill="url(#atlas-scale)" class="thin"/>'
    return f'<defs>{gradient}</defs>{bar}<g class="quiet">{marks}</g>'


def _masked_swatch(word: str, frame: _Frame, *, dark: bool) -> str:
    red, green, blue = palette()["masked"]["dark" if dark else "light"]
    x, y = frame.right + 24, frame.top + _BAR[1] + 18
    return (
        f'<rect x="{x:g}" y="{y:g}" width="14" height="14" rx="1" fill="rgb({red},{green},{blue})" class="thin"/>'
        f'<text class="quiet" x="{x + 21:g}" y="{y + 11:g}">{escaped(word)}</text>'
    )


def _document(body: list[str], frame: _Frame, title: str, caption: str, *, dark: bool) -> str:
    ink = _INK[dark]
    style = (
        f"text{{font:{_FONT}px system-ui,-apple-system,'Segoe UI','Noto Sans',sans-serif;fill:{ink['text']}}}"
        f".quiet,.quiet text{{fill:{ink['quiet']}}}.quiet,.quiet text,.axis text{{font-size:11px}}"
        f".title{{font-size:15px;font-weight:600}}"
        f".thin{{stroke:{ink['quiet']};stroke-opacity:.35;stroke-width:.5}}"
    )
    heading = f'<text class="title" x="{_MARGIN}" y="{_MARGIN + 14}">{escaped(title)}</text>' if title else ""
    below = max(frame.bottom, frame.top + _BAR[1] + 40) + 26
    lines = "".join(
        f'<text class="quiet" x="{_MARGIN}" y="{below + 16 * i:g}">{escaped(line)}</text>'
        for i, line in enumerate(frame.captions)
    )
    size = f'width="{frame.width:g}" height="{frame.height:g}" viewBox="0 0 {frame.width:g} {frame.height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{escaped(title)}</title>'
        f"<desc>{escaped(caption)}</desc><style>{style}</style>"
        f'<rect width="100%" height="100%" fill="{ink["background"]}"/>{heading}{"".join(body)}{lines}</svg>\n'
    )
