"""One frame of the film as self-contained SVG: attention as arcs and cells, candidates as bars.

For files and prints; on the screen the film component draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from viz.color import palette, sequential
from viz.components.film.film import Frame
from viz.share_text import exact_digits
from viz.svg import LIGHT, MARGIN, document, element, label, lines_across, rgb, text

_WIDTH, _ROW = 760, 22
_BAR = (190, 330)  # x at which bars start, and the longest bar
_LABEL_EMS = 11.0
_REMOVED = "#deded6"
_RAMP = 120  # px of the attention scale
_ARCS, _LABELS = 64, 96  # height of the arcs and of the labels above the cells
_LEAST_ARC = 0.005  # smallest weight that has an arc


def frame_svg(
    frame: Frame,
    follows: Frame | None,
    *,
    labels: Mapping[int, str],
    columns: Sequence[str],
    n_vocab: int,
    title: str,
    caption: str,
    texts: Mapping[str, str],
) -> str:
    """The frame as SVG text: arcs and cells of its attention row, then the candidates, unless there are none (None).

    Bars and numbers are after the sampling settings, outlines are the model's own distribution. ``columns`` labels the
    cells. Strings are escaped here.
    """
    if len(columns) != len(frame.row):
        raise ValueError(f"{len(columns)} labels for {len(frame.row)} columns")
    row_top = MARGIN + 46 + _ARCS + _LABELS
    legend = row_top + 40
    body = [*_arcs(frame.row, row_top - _LABELS), _cells(frame.row, columns, row_top), *_legend(legend, follows, texts)]
    below = legend + 30
    if follows is not None:
        top = below + 24
        below = top + _ROW * len(follows.tokens)
        body += [_candidate(follows, i, top + _ROW * i, labels, texts) for i in range(len(follows.tokens))]
        body += _others(follows, below, n_vocab - len(follows.tokens), texts)
        below += 44
    return document(body, width=_WIDTH, below=below, title=title, caption=caption)


def _arcs(row: NDArray[np.floating], base: int) -> list[str]:
    """Arcs over the labels from the newest token to those it attends to; width is proportional to the weight."""
    cell = _cell(row)
    here = MARGIN + (len(row) - 0.5) * cell
    parts: list[str] = []
    for i in np.argsort(np.nan_to_num(row)):  # the strongest are drawn last, on top
        if not row[i] >= _LEAST_ARC:
            continue
        there = MARGIN + (i + 0.5) * cell
        top = base - min(_ARCS, 18 + 0.16 * (here - there)) * 1.25
        path = f"M{here:.1f},{base}C{here:.1f},{top:.1f} {there:.1f},{top:.1f} {there:.1f},{base}"
        if there == here:
            path = (
                f"M{here - 5:.1f},{base}C{here - 13:.1f},{base - 26} {here + 13:.1f},{base - 26} {here + 5:.1f},{base}"
            )
        color = rgb(sequential(np.array([0.4 + 0.5 * row[i]]))[0, :3].tolist())
        parts.append(element("path", d=path, fill="none", stroke=color, stroke_width=round(0.8 + 6 * float(row[i]), 2)))
    return parts


def _cell(row: NDArray[np.floating]) -> float:
    return min(28.0, (_WIDTH - 2 * MARGIN) / max(1, len(row)))


def _candidate(frame: Frame, i: int, y: int, labels: Mapping[int, str], texts: Mapping[str, str]) -> str:
    """A candidate's label, the model's probability as an outline, that after the settings filled, both as numbers."""
    token, probability, final, kept = frame.tokens[i], frame.probabilities[i], frame.finals[i], frame.kept[i]
    most = max([*frame.probabilities, *frame.finals, 1e-9])
    left, width = _BAR
    kind = "removed" if not kept else "chosen" if token == frame.token else ""
    fill = _rgb(4) if kept else _REMOVED
    number = texts["percent"].format(number=exact_digits(final))
    filled = (final if kept else probability) / most * width
    name = label(labels.get(token, str(token)), _LABEL_EMS)
    outline = probability / most * width
    return "".join(
        [
            text(name, kind, x=left - 8, y=y + 4, text_anchor="end"),
            element("rect", x=left, y=y - 7, width=filled, height=14, fill=fill),
            element("rect", x=left, y=y - 7, width=outline, height=14, fill="none", stroke=LIGHT.text),
            text(number, "quiet", x=left + width + 10, y=y + 4),
        ]
    )


def _others(frame: Frame, y: int, count: int, texts: Mapping[str, str]) -> list[str]:
    """The tokens that are not listed, whose rest makes 100 %, and which distribution the numbers are of."""
    left, width = _BAR
    number = texts["percent"].format(number=exact_digits(frame.final_rest))
    entropy = texts["entropy"].format(bits=f"{frame.final_entropy:.1f}")
    named = texts["after_settings"].format(bits=f"{frame.entropy:.1f}") if frame.changed else texts["own"]
    return [
        text(texts["others"].format(count=f"{count:,}"), "quiet", x=left, y=y + 4),
        text(number, "quiet", x=left + width + 10, y=y + 4),
        text(f"{named} {entropy}", "quiet", x=MARGIN, y=y + 24),
    ]


def _cells(row: NDArray[np.floating], columns: Sequence[str], top: int) -> str:
    cell = _cell(row)
    step = max(1, int(np.ceil(13 / cell)))
    parts = [lines_across("masked", LIGHT, name="atlas-masked")] if np.isnan(row).any() else []
    for i, color in enumerate(sequential(row)[:, :3].tolist()):
        fill = "url(#atlas-masked)" if np.isnan(row[i]) else rgb(color)
        x = MARGIN + i * cell
        parts.append(
            element(
                "rect", x=x, y=top, width=max(cell - 0.6, 0.4), height=26, fill=fill,
                stroke=LIGHT.quiet, stroke_opacity=0.3, stroke_width=0.4,
            )
        )  # fmt: skip
        if i % step == 0:
            parts.append(_column_label(columns[i], x + cell / 2, top - 6, step * cell))
    return "".join(parts)


def _column_label(words: str, x: float, y: float, room: float) -> str:
    """Above its cell, upright if it fits, otherwise rotated."""
    if len(words) == 1 or 7.5 * len(words) <= room:
        return text(words, x=x, y=y, text_anchor="middle")
    return text(label(words, _LABEL_EMS * 0.7), transform=f"translate({x + 4:.2f} {y}) rotate(-90)")


def _legend(y: float, follows: Frame | None, texts: Mapping[str, str]) -> list[str]:
    """The colour scale of the cells, from 0 to 1, and the meaning of a grey bar."""
    ends = [texts["percent"].format(number=number) for number in (0, 100)]
    stops = [element("stop", offset=t, stop_color=rgb(color)) for t, *color in palette()["sequential"]["light"]]
    gradient = element("linearGradient", *stops, id="atlas-share")
    left = MARGIN + 34
    parts = [
        element("defs", gradient),
        text(ends[0], "quiet", x=left - 6, y=y + 10, text_anchor="end"),
        element("rect", x=left, y=y, width=_RAMP, height=12, fill="url(#atlas-share)"),
        text(ends[1], "quiet", x=left + _RAMP + 6, y=y + 10),
    ]
    if follows is not None and not all(follows.kept):
        x = left + _RAMP + 90
        parts.append(element("rect", x=x, y=y, width=14, height=12, fill=_REMOVED))
        parts.append(text(texts["cut"], "quiet", x=x + 20, y=y + 10))
    return parts


def _rgb(step: int) -> str:
    return rgb(palette()["sequential"]["light"][step][1:])
