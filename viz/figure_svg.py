"""The head map as self-contained SVG: its cells are one embedded image, everything else is vector and text.

For files and prints; on the screen the head_map component draws the same figure. Independent of heads and models.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Required, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from viz.color import diverging, ink_on, palette, sequential
from viz.svg import DARK, FONT, LIGHT, MARGIN, Hatch, Ink, document, element, label, lines_across, rgb, text
from viz.token_text import ems, escaped, stacked, stance

N_ = str

TEXTS: dict[str, str] = {
    "row_axis": N_("looking (query)"),
    "column_axis": N_("looked at (key)"),
    "masked": N_("masked"),
    "left_out": N_("not chosen"),
    "percent": N_("{number} %"),
}

_NARROWEST = 420.0  # narrowest legible caption
_SIDE = 520  # approximate longer side of the cells
_LARGEST = 38.0  # largest side of a cell
_NUMBERED, _WRITTEN = 36.0, 0.0995  # smallest cell with a number, and smallest weight that is written
_LABEL_EMS = 11.0  # longer labels are cut
_SLOPE = math.radians(60)
_LETTER = 13.0  # line height of stacked letters
_BAR = (14, 168)  # width and height of the colour bar


class MapSettings(TypedDict, total=False):
    """Arguments that `map_svg` passes to `drawn_map`."""

    row_labels: Required[Sequence[str]]
    col_labels: Required[Sequence[str]]
    scale: Required[Literal["sequential", "diverging"]]
    low: Required[float]
    high: Required[float]
    log: Required[bool]
    number: Literal["percent", "plain"]
    texts: Mapping[str, str] | None


@dataclass(frozen=True)
class _Frame:
    """Positions in SVG units: the column axis' title, the cells' corner, one cell, and the whole figure.

    A cell is ``cell`` wide and ``tall`` high.
    """

    word: float
    left: float
    top: float
    cell: float
    tall: float
    rows: int
    columns: int
    width: float

    @property
    def right(self) -> float:
        return self.left + self.cell * self.columns

    @property
    def bottom(self) -> float:
        return self.top + self.tall * self.rows

    @property
    def below(self) -> float:
        """Where the caption starts."""
        return max(self.bottom, self.top + _BAR[1] + 40) + 26


@dataclass(frozen=True)
class Drawn:
    """One map as markup, and its width; what is under it starts at `below`."""

    body: tuple[str, ...]
    width: float
    below: float


def map_svg(
    values: NDArray[np.floating], *, title: str, caption: str, dark: bool = False, **settings: Unpack[MapSettings]
) -> str:
    """The figure as SVG text, see `drawn_map`. It has no external references."""
    drawn = drawn_map(values, dark=dark, headed=title, **settings)
    ink = DARK if dark else LIGHT
    return document(
        drawn.body, width=drawn.width, below=drawn.below, title=title, caption=caption, ink=ink, room=MARGIN / 2 - 4
    )


def drawn_map(
    values: NDArray[np.floating],
    *,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    scale: Literal["sequential", "diverging"],
    low: float,
    high: float,
    log: bool,
    number: Literal["percent", "plain"] = "percent",
    texts: Mapping[str, str] | None = None,
    dark: bool = False,
    headed: str = "",
    side: int = _SIDE,
    nth: int = 0,
    left_out: NDArray[np.bool_] | None = None,
    pinned: tuple[int | None, int | None] = (None, None),
    paper: bool = False,
    every_row: bool = False,
) -> Drawn:
    """One map; `values` [rows, columns] are drawn from `low` to `high`, clipped, NaN as masked.

    With `log` the colour is linear in log(value), so `low` must be positive; a diverging scale runs from -m to m, where
    m is the larger of |low| and |high|, and cannot be logarithmic. Labels may be empty lists (for a pooled picture);
    strings are escaped here. There is room above for the line `headed`. The longer side of the cells is about `side`;
    `nth` numbers the maps in a file. Masked cells are hatched, those of `left_out` differently. The `pinned` row and
    column have a frame. On `paper` no room is kept for words below, and cells may have fractional sizes. With
    `every_row` rows are high enough for each to have its label, whatever the columns are.
    """
    rows, columns = values.shape
    for name, labels, count in (("row", row_labels, rows), ("column", col_labels, columns)):
        if labels and len(labels) != count:
            raise ValueError(f"{len(labels)} {name} labels for {count} {name}s")
    if log and (scale == "diverging" or low <= 0):
        raise ValueError("a logarithmic colour needs the sequential scale and a positive low end")
    words = {**TEXTS, **(texts or {})}
    template = words["percent"] if number == "percent" else ""
    frame = _frame(rows, columns, row_labels, col_labels, headed, side, paper=paper, every_row=every_row)
    paint = diverging if scale == "diverging" else sequential
    pixels = paint(_placed(values, scale, low, high, log), dark=dark)
    ink = DARK if dark else LIGHT
    masked, out = np.isnan(values) & ~_none(left_out), np.isnan(values) & _none(left_out)
    kinds: list[tuple[Hatch, NDArray[np.bool_]]] = [("masked", masked), ("left_out", out)]
    hatched = [one for one in kinds if one[1].any()]
    body = [
        *(_lines(kind, cells, frame, ink, nth) for kind, cells in hatched),
        _cells(pixels, frame, ink.background),
        _numbers(values, pixels, frame) if number == "percent" else "",
        _pins(pinned, frame, dark=dark),
        _row_labels(row_labels, frame),
        _column_labels(col_labels, frame),
        _axis_words(words, frame, labelled=bool(row_labels), dark=dark),
        _color_bar(frame, _ticks(scale, low, high, log, template), scale, nth, dark=dark),
    ]
    body += [_swatch(words[kind], _pattern(kind, nth), frame, i) for i, (kind, _where) in enumerate(hatched)]
    return Drawn(tuple(body), frame.width, frame.below)


# ---- the scale ------------------------------------------------------------------------------------------------------


def _placed(
    values: NDArray[np.floating] | Sequence[float], scale: str, low: float, high: float, log: bool
) -> NDArray[np.float64]:
    """Positions of the values on the colour scale: 0..1, or -1..1 on the diverging one. NaN stays NaN."""
    exact = np.asarray(values, dtype=np.float64)
    if scale == "diverging":
        return exact / (max(abs(low), abs(high)) or 1.0)
    if log:
        with np.errstate(divide="ignore", invalid="ignore"):  # a weight of 0 lies below any lower end
            exact = np.log(exact)
        low, high = math.log(low), math.log(high)
    return (exact - low) / ((high - low) or 1.0)


def _ticks(scale: str, low: float, high: float, log: bool, percent: str) -> list[tuple[float, str]]:
    """Height on the colour bar (0 bottom, 1 top) and text of each tick, without percent if `percent` is empty."""
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
    plain = f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
    words = percent.format(number=f"{100 * value:.3g}") if percent and value else plain
    return words.replace("-", "\u2212")


# ---- the parts ------------------------------------------------------------------------------------------------------


def _frame(
    rows: int,
    columns: int,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    title: str,
    side: int,
    *,
    paper: bool,
    every_row: bool = False,
) -> _Frame:
    cell = side / max(rows, columns, 1)
    cell = min(_LARGEST, cell if paper else max(1.0, math.floor(cell)))
    widest_row = max((ems(word) for word in row_labels), default=0)
    step = _column_step(col_labels, cell)
    drawn = col_labels[::step]
    turned = [word for word in drawn if stance(word, step * cell / FONT) == "turned"]
    reach = min(max((ems(word) for word in turned), default=0), _LABEL_EMS + 1) * FONT * math.cos(_SLOPE)
    left = MARGIN + 22 + min(widest_row, _LABEL_EMS + 1) * FONT + 6
    word = MARGIN + (42 if title else 12)
    top = word + 14 + max((_label_height(label, step * cell) for label in drawn), default=0.0)
    right = left + cell * columns
    width = max(
        right + 24 + _BAR[0] + 64,
        right + reach + 8,
        ems(title) * 15 + 2 * MARGIN,
        0.0 if paper else _NARROWEST,
    )
    tall = max(cell, FONT + 1.0) if every_row else cell
    return _Frame(word, left, top, cell, tall, rows, columns, width)


def map_width(rows: int, columns: int, row_labels: Sequence[str], col_labels: Sequence[str], side: int) -> float:
    """The width of a map on paper whose cells are about `side` long in total."""
    return _frame(rows, columns, row_labels, col_labels, "", side, paper=True).width


def _cells(pixels: NDArray[np.uint8], frame: _Frame, background: str) -> str:
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    # Not every SVG viewer supports image-rendering, so the cells are enlarged here: at twice the drawn size, smoothing
    # blurs no more than a line of pixels.
    wide, high = (max(1, math.ceil(2 * size)) for size in (frame.cell, frame.tall))
    picture = picture.resize((frame.columns * wide, frame.rows * high), Image.Resampling.NEAREST)
    data = io.BytesIO()
    picture.save(data, format="PNG", optimize=True)
    address = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode('ascii')}"
    image = element(
        "image", x=frame.left, y=frame.top, width=frame.right - frame.left, height=frame.bottom - frame.top,
        preserveAspectRatio="none", style="image-rendering:pixelated", href=address,
    )  # fmt: skip
    return image + (_separators(frame, background) if frame.cell >= 10 else "")


def _numbers(values: NDArray[np.floating], pixels: NDArray[np.uint8], frame: _Frame) -> str:
    """Weights with two digits, in cells that are large enough."""
    if frame.cell < _NUMBERED:
        return ""
    written = [
        text(
            f"{100 * values[row, column]:.0f}".replace("-", "\u2212"),
            x=frame.left + (column + 0.5) * frame.cell,
            y=frame.top + (row + 0.5) * frame.tall + 4,
            style=f"fill:{ink_on(pixels[row, column])}",
        )
        for row, column in np.argwhere(np.abs(np.nan_to_num(values)) >= _WRITTEN).tolist()
    ]
    return element("g", *written, text_anchor="middle")


def _pins(pinned: tuple[int | None, int | None], frame: _Frame, *, dark: bool) -> str:
    """Frames of a pinned query (a row) and of a pinned key (a column)."""
    row, column = pinned
    boxes: list[str] = []
    if row is not None and row < frame.rows:
        y, width = frame.top + row * frame.tall, frame.right - frame.left
        boxes.append(_box(frame.left, y, width, frame.tall, palette()["query"][_side(dark)]))
    if column is not None and column < frame.columns:
        x, height = frame.left + column * frame.cell, frame.bottom - frame.top
        boxes.append(_box(x, frame.top, frame.cell, height, palette()["key"][_side(dark)]))
    return "".join(boxes)


def _box(x: float, y: float, width: float, height: float, color: Sequence[float]) -> str:
    return element(
        "rect", x=x, y=y, width=width, height=height, fill="none", stroke=rgb(color), stroke_width=2, class_="pinned"
    )


def _separators(frame: _Frame, color: str) -> str:
    across = "".join(f"M{frame.left:g} {frame.top + i * frame.tall:g}H{frame.right:g}" for i in range(1, frame.rows))
    down = "".join(f"M{frame.left + i * frame.cell:g} {frame.top:g}V{frame.bottom:g}" for i in range(1, frame.columns))
    return element("path", d=across + down, stroke=color, stroke_width=0.8, fill="none")


def _step(cell: float) -> int:
    """Label every n-th row, so that labels do not overlap."""
    return max(1, math.ceil((FONT + 1) / cell))


def _column_step(labels: Sequence[str], cell: float) -> int:
    """The same for columns; numbers, of which only some are needed, are far enough apart to be upright."""
    if not all(word.isdigit() for word in labels):
        return _step(cell)
    widest = max((ems(word) for word in labels), default=0.0) + 0.3
    return max(_step(cell), math.ceil(widest * FONT / cell))


def _row_labels(labels: Sequence[str], frame: _Frame) -> str:
    step = _step(frame.tall)
    texts = [
        text(label(labels[i], _LABEL_EMS), x=frame.left - 6, y=frame.top + (i + 0.5) * frame.tall + 4)
        for i in range(0, len(labels), step)
    ]
    return element("g", *texts, text_anchor="end")


def _column_labels(labels: Sequence[str], frame: _Frame) -> str:
    step, y = _column_step(labels, frame.cell), frame.top - 6
    places = ((frame.left + (i + 0.5) * frame.cell, labels[i]) for i in range(0, len(labels), step))
    return "".join(_column_label(word, x, y, step * frame.cell) for x, word in places)


def _column_label(word: str, x: float, y: float, room: float) -> str:
    """A label upright if it fits, with stacked letters if its script is written so, otherwise rotated."""
    match stance(word, room / FONT):
        case "upright":
            return text(label(word, _LABEL_EMS), x=x, y=y, text_anchor="middle")
        case "stacked":
            letters = stacked(word, int(_LABEL_EMS))
            spans = [
                element("tspan", escaped(letter), x=x, y=y - _LETTER * (len(letters) - 1 - i))
                for i, letter in enumerate(letters)
            ]
            return element("text", *spans, text_anchor="middle")
        case "turned":
            return text(label(word, _LABEL_EMS), transform=f"translate({x + 3:g} {y:g}) rotate(-60)")


def _label_height(word: str, room: float) -> float:
    match stance(word, room / FONT):
        case "upright":
            return _LETTER
        case "stacked":
            return _LETTER * len(stacked(word, int(_LABEL_EMS)))
        case "turned":
            return min(ems(word), _LABEL_EMS + 1) * FONT * math.sin(_SLOPE)


def _axis_words(words: Mapping[str, str], frame: _Frame, *, labelled: bool, dark: bool) -> str:
    x, y = (MARGIN + 10 if labelled else frame.left - 10), (frame.top + frame.bottom) / 2
    query, key = (f"fill:{rgb(palette()[name][_side(dark)])}" for name in ("query", "key"))
    return element(
        "g",
        text(words["row_axis"], transform=f"translate({x:g} {y:g}) rotate(-90)", style=query),
        text(words["column_axis"], x=(frame.left + frame.right) / 2, y=frame.word, style=key),
        text_anchor="middle",
        class_="axis",
    )


def _color_bar(frame: _Frame, ticks: list[tuple[float, str]], scale: str, nth: int, *, dark: bool) -> str:
    x, y, (width, height) = frame.right + 24, frame.top, _BAR
    name = f"atlas-scale{nth or ''}"  # names must be unique in a file
    stops = [
        element("stop", offset=point[0], stop_color=rgb(point[1:]))
        for point in palette()[scale][_side(dark)]
        if isinstance(point, list)
    ]
    gradient = element("linearGradient", *stops, id=name, x1=0, y1=1, x2=0, y2=0)
    marks = [text(words, x=x + width + 7, y=y + height * (1 - at) + 4) for at, words in ticks]
    bar = element("rect", x=x, y=y, width=width, height=height, rx=1, fill=f"url(#{name})", class_="thin")
    return element("defs", gradient) + bar + element("g", *marks, class_="quiet")


def _swatch(word: str, pattern: str, frame: _Frame, nth: int) -> str:
    x, y = frame.right + 24, frame.top + _BAR[1] + 18 + 20 * nth
    swatch = element("rect", x=x, y=y, width=14, height=14, rx=1, fill=f"url(#{pattern})", class_="thin")
    return swatch + text(word, "quiet", x=x + 21, y=y + 11)


def _lines(kind: Hatch, cells: NDArray[np.bool_], frame: _Frame, ink: Ink, nth: int) -> str:
    """Hatching of the cells that have no colour."""
    return lines_across(kind, ink, name=_pattern(kind, nth)) + element(
        "path", d=cells_path(cells, frame.left, frame.top, frame.cell, frame.tall), fill=f"url(#{_pattern(kind, nth)})"
    )


def _pattern(kind: str, nth: int) -> str:
    return f"atlas-{kind.replace('_', '-')}{nth or ''}"  # names must be unique in a file


def cells_path(cells: NDArray[np.bool_], left: float, top: float, size: float, tall: float | None = None) -> str:
    """The outline of these cells as path data, one run per row at a time; `tall` if they are not square."""
    high = size if tall is None else tall
    parts: list[str] = []
    for row, line in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(np.int8), [0]])))
        parts += [
            f"M{left + start * size:g} {top + row * high:g}h{(stop - start) * size:g}v{high:g}H{left + start * size:g}z"
            for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        ]
    return "".join(parts)


def _none(left_out: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    return np.zeros((), np.bool_) if left_out is None else left_out


def _side(dark: bool) -> str:
    return "dark" if dark else "light"
