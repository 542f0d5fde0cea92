"""A chart as data: lines over an axis, or horizontal bars. Plotly figures and SVGs are made from it.

Independent of models, and draws nothing itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from viz.svg import FONT
from viz.token_text import ems

SMALL = 1e-4  # smaller values are labelled as powers of ten
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ROOM = 1.4  # of the axis, for the words after the longest bar
_NARROWEST = 120  # px: bars on a phone, beside their words
_NARROW, _AROUND, _LINE = 270, 70, 18  # px: a plot on a phone, a chart's space above and below it, and a line of words


@dataclass(frozen=True)
class Line:
    """One series; ``dash`` as named by Plotly. ``points`` marks every value; ``quiet`` uses a neutral colour.

    Without ``joined``, only its points are drawn. ``like``: the index of the line whose colour it shares.
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
    """Lines over a common axis. ``marker`` is a labelled position on it, ``level`` a horizontal line.

    ``ticks`` are positions to label if they are not round numbers. ``y_range`` fixes the vertical axis.
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
    """Horizontal bars, from the top, each with its words; None has words but no bar.

    ``colors`` has each bar's index among the theme's series colours; if empty, all use the first. ``longest`` is the
    longest bar, and ``words_take`` the width in px after it, of all charts on a common scale.
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
        """The end of the axis, beyond the longest bar."""
        return ROOM * self.most

    @property
    def most(self) -> float:
        """The longest bar's value, in this chart or in all that share its scale."""
        return max([self.longest, *(value for value in self.values if value is not None)]) or 1.0

    @property
    def beside(self) -> int:
        """px right of the plot for the words after each bar; the longest bar ends where the plot does.

        Words without a bar start where bars do, and can use the plot's width as well.
        """
        ends = [
            ems(words) * FONT * 1.05 + 10 - (1 - value / self.most) * _NARROWEST
            for words, value in zip(self.words, self.values, strict=True)
            if value is not None
        ]
        return math.ceil(max([12, self.words_take, *ends]))


def on_one_scale(charts: Sequence[Bars]) -> list[Bars]:
    """The charts on a common scale: in charts of equal width, equal values have bars of equal length."""
    longest = max((chart.most for chart in charts if any(chart.values)), default=0.0)
    same = [replace(chart, longest=longest) for chart in charts]
    return [replace(chart, words_take=max(one.beside for one in same)) for chart in same]


Chart: TypeAlias = Lines | Bars


@dataclass(frozen=True)
class Axis:
    """Positions of values: 0 at ``low``, 1 at ``high``. If it ``counts``, only integers are labelled."""

    low: float
    high: float
    log: bool = False
    counts: bool = False

    def share(self, value: float) -> float:
        """Position in 0..1 between its ends; NaN where a logarithm is undefined."""
        low, high, at = (_logarithm(one) if self.log else one for one in (self.low, self.high, value))
        return (at - low) / (high - low)

    def value(self, share: float) -> float:
        """The value at this position."""
        if self.log:
            return self.low * (self.high / self.low) ** share
        return self.low + share * (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        """About this many round values; on a logarithmic axis powers of ten, or values in between if there are few."""
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
    """The horizontal and the vertical axis, which contain everything that is drawn."""
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
    """Distance of the marker's words from the plot's upper edge, as a share of its height.

    The position avoids lines and, if possible, the axis's grid lines; 0 if there is none.
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
    """Return True if the words of a marker at this position are right of it."""
    return at < 0.8


def heights_within(line: Line, x_axis: Axis, y_axis: Axis, span: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """Yield the lowest and highest share of the plot's height of each segment of a line within this horizontal span."""
    places = [(x_axis.share(x), y_axis.share(y)) for x, y in zip(line.x, line.y, strict=True)]
    for (left, start), (right, end) in itertools.pairwise(places):
        if not all(map(math.isfinite, (left, start, right, end))) or right <= left:
            continue
        ends = [min(max(one, left), right) for one in span]
        if left <= span[1] and span[0] <= right:
            heights = [start + (end - start) * (one - left) / (right - left) for one in ends]
            yield min(heights), max(heights)


def tick_words(value: float) -> str:
    """Format a tick: 50, 0.2, 10k, 3M, 1P; tiny values as powers of ten: 10⁻⁷, 2 × 10⁻⁵."""
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
    """The smallest and largest value that can be drawn; distinct even if there are fewer than two."""
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
