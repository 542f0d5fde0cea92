"""Placement of line names at the lines' ends, so that nobody has to look up colours in a legend.

A name is after the plot, or inside it if the line ends early, moved vertically until it overlaps no other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from viz.chart import Lines, axes_of, heights_within, words_after, words_below
from viz.svg import FONT
from viz.token_text import ems, wrapped

STROKE, GAP = 14, 6  # px: the sample of the line before its name, and the gaps around it
BEFORE = STROKE + 2 * GAP
LINE = 15  # px, line height of a name
MOST = 8  # lines: more of them get a legend
AROUND = 76  # px of the chart's height outside the plot
NARROW = 220  # px: a plot on a phone beside the names
_WIDEST = 9.0  # em, widest line of a name
_RIGHT = 0.97  # of the width: a line that reaches so far is named after the plot


@dataclass(frozen=True)
class LineEnd:
    """The name of line ``place`` as ``words``, one string per line of text.

    The line ends at ``x`` and ``y``, shares of the plot; ``x`` is 1 if the name is after the plot. The name starts
    ``BEFORE`` px after the end, and its middle is ``up`` px above it.
    """

    place: int
    words: tuple[str, ...]
    x: float
    y: float
    up: float


def line_ends(chart: Lines) -> list[LineEnd]:
    """The names of all lines that have a point; empty if a legend is needed: for a single line, many lines, or lack of
    room.
    """
    if not 2 <= len(chart.series) <= MOST or not all(line.joined and line.name for line in chart.series):
        return []
    found = [end for place in range(len(chart.series)) if (end := _end(chart, place)) is not None]
    last, early = ([one for one in found if (one.x == 1) is side] for side in (True, False))
    high = _plot_height(chart)
    named = _spread(last, high)
    if named is None:
        return []
    taken = [_box(one, high) for one in named] + _marked(chart, high)
    for end in sorted(early, key=lambda one: -one.y):
        free = next((box for box in _places(end, high) if not _meets(chart, end, box, taken, high)), None)
        if free is None:
            return []
        taken.append(free)
        named.append(_moved(end, (free.low + free.high) / 2, high))
    return sorted(named, key=lambda one: one.place)


def ends_take(chart: Lines) -> int:
    """px after the plot for the names, including lines still to come; 0 with a legend."""
    if not line_ends(chart):
        return 0
    widest = max(ems(words) for line in chart.series for words in _words(line.name))
    return math.ceil(BEFORE + widest * FONT * 1.02 + 4)


@dataclass(frozen=True)
class _Box:
    """px from the plot's lower left corner."""

    left: float
    right: float
    low: float
    high: float

    def meets(self, other: _Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.low < other.high and other.low < self.high


def _words(name: str) -> tuple[str, ...]:
    return tuple(wrapped(name, _WIDEST))


def _plot_height(chart: Lines) -> float:
    return max(LINE, chart.height - AROUND)


def _end(chart: Lines, place: int) -> LineEnd | None:
    """The position of a line's last point; None before it has one."""
    line, (across, upright) = chart.series[place], axes_of(chart)
    points = [(across.share(x), upright.share(y)) for x, y in zip(line.x, line.y, strict=True)]
    drawn = [point for point in points if all(map(math.isfinite, point))]
    if not drawn:
        return None
    x, y = max(drawn)
    return LineEnd(place, _words(line.name), 1.0 if x >= _RIGHT else x, min(1.0, max(0.0, y)), 0.0)


def _height(end: LineEnd) -> float:
    return LINE * len(end.words) + 3


def _moved(end: LineEnd, middle: float, high: float) -> LineEnd:
    return LineEnd(end.place, end.words, end.x, end.y, round(middle - end.y * high, 1))


def _box(end: LineEnd, high: float) -> _Box:
    left = end.x * NARROW + GAP
    middle = end.y * high + end.up
    wide = STROKE + GAP + max(ems(words) for words in end.words) * FONT
    return _Box(left, left + wide, middle - _height(end) / 2, middle + _height(end) / 2)


def _spread(ends: Sequence[LineEnd], high: float) -> list[LineEnd] | None:
    """Place names after the plot as near to their lines as possible; None if they need more height."""
    if sum(map(_height, ends)) > high + LINE:
        return None
    groups = list[list[LineEnd]]()
    for end in sorted(ends, key=lambda one: one.y):
        groups.append([end])
        while len(groups) > 1 and _span(groups[-2], high)[1] > _span(groups[-1], high)[0]:
            groups[-2:] = [groups[-2] + groups[-1]]
    named = list[LineEnd]()
    for group in groups:
        at = _span(group, high)[0]
        for end in group:
            named.append(_moved(end, at + _height(end) / 2, high))
            at += _height(end)
    return named


def _span(group: Sequence[LineEnd], high: float) -> tuple[float, float]:
    """Lowest and highest px of stacked names, centred on their lines' mean and within the plot."""
    total = sum(map(_height, group))
    low = sum(end.y * high for end in group) / len(group) - total / 2
    edge = LINE / 2  # may extend beyond the plot, as the axis labels do
    low = max(-edge, min(low, high + edge - total))
    return low, low + total


def _places(end: LineEnd, high: float) -> Iterator[_Box]:
    """Candidate positions: behind an early end, then increasingly above and below it, within the plot."""
    for up in (0, 8, -8, 14, -14, 20, -20, 28, -28):
        box = _box(_moved(end, end.y * high + up, high), high)
        if box.low >= -LINE / 2 and box.high <= high + LINE / 2:
            yield box


def _meets(chart: Lines, end: LineEnd, box: _Box, taken: Sequence[_Box], high: float) -> bool:
    """Return True if a name there would cover another name or a line."""
    if any(box.meets(other) for other in taken):
        return True
    across, upright = axes_of(chart)
    span = (box.left / NARROW, min(1.0, box.right / NARROW))
    pieces = (
        piece
        for place, line in enumerate(chart.series)
        if place != end.place
        for piece in heights_within(line, across, upright, span)
    )
    return any(low * high < box.high and box.low < up * high for low, up in pieces)


def _marked(chart: Lines, high: float) -> list[_Box]:
    """Positions of the words of the chart's marker and level."""
    across, upright = axes_of(chart)
    found = list[_Box]()
    if chart.marker is not None:
        at, words = across.share(chart.marker[0]) * NARROW, chart.marker[1]
        wide, top = ems(words) * FONT + GAP, high * (1 - words_below(chart))
        left = at if words_after(across.share(chart.marker[0])) else at - wide
        found.append(_Box(left, left + wide, top - LINE, top))
    if chart.level is not None:
        at = upright.share(chart.level[0]) * high
        found.append(_Box(0, NARROW, at - 1, at + LINE))
    return found
