"""What a chart shows, as data: lines over an axis, or horizontal bars. Plotly's figure and the SVG are made of it.

Knows nothing of models, and draws nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from viz.svg import FONT
from viz.token_text import ems

SMALL = 1e-4  # up to it an axis names a value by its power of ten
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ROOM = 1.4  # for the words after the longest bar
_NARROWEST = 120  # px: bars on a phone, beside their words
_NARROW, _AROUND, _LINE = 270, 70, 18  # px: a plot on a phone, what a chart has above and below it, and a line of words


@dataclass(frozen=True)
class Line:
    """One series; ``dash`` as Plotly names it. ``points`` marks every value; ``quiet`` is the colour of no series.

    Not ``joined``, it is its points alone. ``like``: the place of the line whose colour it has.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dash: str = "solid"
    points: bool = False
    quiet: bool = False
    joined: bool = True
    like: int | None = None


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines over a common axis. ``marker`` is a place on it with its words, ``level`` a value, drawn across.

    ``ticks`` are the places named on the horizontal axis, where they are not round numbers. ``y_range``: of an axis
    that stays as it is, whatever the lines are.
    """

    series: Sequence[Line]
    x_title: str
    y_title: str
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    log_x: bool = False
    log_y: bool = False
    ticks: Sequence[float] = ()
    marker: tuple[float, str] | None = None
    level: tuple[float, str] | None = None
    height: int = 300
    heading: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Horizontal bars, the first on top, each with its words; None has words but no bar.

    ``colors`` numbers each bar's colour among the theme's series; all are the first where it is empty. ``longest`` is
    the longest bar, and ``words_take`` the px after it, of all charts that stand on one scale.
    """

    labels: Sequence[str]
    values: Sequence[float | None]
    words: Sequence[str]
    colors: Sequence[int] = ()
    height: int = 300
    heading: str = ""
    note: str = ""
    longest: float = 0.0
    words_take: int = 0

    @property
    def span(self) -> float:
        """The value at the end of the axis, beyond the longest bar."""
        return ROOM * self.most

    @property
    def most(self) -> float:
        """The longest bar's value, of this chart or of all that stand on its scale."""
        return max([self.longest, *(value for value in self.values if value is not None)]) or 1.0

    @property
    def beside(self) -> int:
        """px right of the plot for the words after each bar, of which the longest ends where the plot does.

        Words without a bar begin where bars do, and have the plot's place too.
        """
        ends = [
            ems(words) * FONT * 1.05 + 10 - (1 - value / self.most) * _NARROWEST
            for words, value in zip(self.words, self.values, strict=True)
            if value is not None
        ]
        return math.ceil(max([12, self.words_take, *ends]))


def on_one_scale(charts: Sequence[Bars]) -> list[Bars]:
    """The same charts, in each of which a bar of some value is as long as in the others, where they are as wide."""
    longest = max((chart.most for chart in charts if any(chart.values)), default=0.0)
    same = [replace(chart, longest=longest) for chart in charts]
    return [replace(chart, words_take=max(one.beside for one in same)) for chart in same]


Chart: TypeAlias = Lines | Bars


@dataclass(frozen=True)
class Axis:
    """Where values are on it: 0 at ``low``, 1 at ``high``. On one that ``counts``, whole numbers alone are named."""

    low: float
    high: float
    log: bool = False
    counts: bool = False

    def share(self, value: float) -> float:
        """0..1 between its ends; NaN for what a logarithm has no place for."""
        low, high, at = (_logarithm(one) if self.log else one for one in (self.low, self.high, value))
        return (at - low) / (high - low)

    def value(self, share: float) -> float:
        """What stands at this share of its length."""
        if self.log:
            return self.low * (self.high / self.low) ** share
        return self.low + share * (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values, about as many; of a logarithmic axis powers of ten, or what is between where there are few."""
        if not self.log:
            found = _round_values(self.low, self.high, most)
            return [value for value in found if float(value).is_integer() or not self.counts]
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if last - first < 1:
            found = [n * 10.0**power for power in range(first - 1, last + 1) for n in (1, 2, 5)]
            found = [value for value in found if self.low <= value <= self.high]
            return found if len(found) > 1 else _round_values(self.low, self.high, most)
        return [10.0**power for power in range(first, last + 1, math.ceil((last - first + 1) / (most + 1)))]


def axes_of(chart: Lines) -> tuple[Axis, Axis]:
    """The horizontal and the vertical axis: all that is drawn has its place on them."""
    values = [float(one) for line in chart.series for one in line.x]
    counts = bool(values) and all(value.is_integer() for value in values) and not chart.log_x
    across = Axis(*chart.x_range or _ends(values, log=chart.log_x), chart.log_x, counts)
    if chart.y_range is not None:
        return across, Axis(*chart.y_range, chart.log_y)
    ys = [one for line in chart.series for one in line.y] + ([chart.level[0]] if chart.level else [])
    low, high = _ends(ys, log=chart.log_y)
    if chart.log_y:
        return across, Axis(low / 1.2, high * 1.2, log=True)
    return across, Axis(min(0.0, low), 1.05 * high if high > 0 else 1.0)


def words_below(chart: Lines) -> float:
    """How far below the plot's upper edge the words at its marker stand, as a share of its height.

    0, or as far as they meet no line, and none of the axis's rules if there is such a place; 0 where there is none.
    """
    if chart.marker is None:
        return 0.0
    x_axis, y_axis = axes_of(chart)
    at, high = x_axis.share(chart.marker[0]), _LINE / max(_LINE, chart.height - _AROUND)
    wide = (ems(chart.marker[1]) * FONT + 10) / _NARROW
    span = (at, at + wide) if words_after(at) else (at - wide, at)
    taken = [one for line in chart.series for one in heights_within(line, x_axis, y_axis, span)]
    places = [high * step / 4 for step in range(int(4 / high) - 3)]
    rules = [(y_axis.share(tick), y_axis.share(tick)) for tick in y_axis.ticks()]
    for avoided in ([*taken, *rules], taken):
        for top in places:
            if not any(low <= 1 - top and 1 - top - high <= up for low, up in avoided):
                return top
    return 0.0


def words_after(at: float) -> bool:
    """Whether the words at a marker at this share of the width stand right of it."""
    return at < 0.8


def heights_within(line: Line, x_axis: Axis, y_axis: Axis, span: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """Lowest and highest share of the plot's height of each piece of a line within this span of its width."""
    places = [(x_axis.share(x), y_axis.share(y)) for x, y in zip(line.x, line.y, strict=True)]
    for (left, start), (right, end) in itertools.pairwise(places):
        if not all(map(math.isfinite, (left, start, right, end))) or right <= left:
            continue
        ends = [min(max(one, left), right) for one in span]
        if left <= span[1] and span[0] <= right:
            heights = [start + (end - start) * (one - left) / (right - left) for one in ends]
            yield min(heights), max(heights)


def tick_words(value: float) -> str:
    """50, 0.2, 10k, 3M, 1P; what is tiny by its power of ten: 10⁻⁷, 2 × 10⁻⁵."""
    if 0 < abs(value) <= SMALL:
        digits, power = f"{value:.2e}".split("e")
        digits = f"{float(digits):g}".replace("-", "\u2212")
        raised = f"10⁻{str(-int(power)).translate(RAISED)}"
        return raised if digits == "1" else f"{digits} × {raised}"
    for power, suffix in ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if abs(value) >= 10_000 and abs(value) >= 10**power:
            return f"{value / 10**power:g}{suffix}"
    return f"{value:g}".replace("-", "\u2212")


def _ends(values: Sequence[float], *, log: bool) -> tuple[float, float]:
    """The least and the largest that can be drawn; apart, also where there is one or none."""
    drawn = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = min(drawn, default=1.0 if log else 0.0), max(drawn, default=10.0 if log else 1.0)
    return (low, high) if low < high else (low, 10 * low if log else low + 1)


def _logarithm(value: float) -> float:
    return math.log10(value) if value > 0 else math.nan


def _round_values(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between the two."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(n * power for n in (1, 2, 5, 10) if n * power * most >= (high - low) * (1 - 1e-9))
    return [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
