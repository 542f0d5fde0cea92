"""A chart drawn by `viz/chart_svg.py` and updated in place: while its numbers arrive, or by a slider.

With a slider there is one chart per position, and the browser switches between them while it is dragged. Sends "knob",
its value when released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from viz.chart import Bars, Chart
from viz.chart_svg import DASHES, left_of, right_of, screen_svg
from viz.components.picture import UNSENT, Picture, sent
from viz.components.source import read_source
from viz.curves import colors_of
from viz.line_ends import line_ends

SOURCE = read_source(Path(__file__).parent, "chart", '<div class="chart"></div>\n')


@dataclass(frozen=True)
class LegendLine:
    """A line's name and style."""

    name: str
    color: int
    dash: str


@dataclass(frozen=True)
class ChartDrawing:
    """What is inside the axes, and the names of its lines."""

    svg: str
    legend: Sequence[LegendLine]


@dataclass(frozen=True)
class Slider:
    """Positions with the chart and the text of each; `at` is one of `values`."""

    label: str
    values: Sequence[float]
    at: float
    charts: Annotated[Sequence[Chart], UNSENT]
    said: Sequence[str]
    names: Sequence[str] = ()
    """The labels of the values; empty to use the values themselves."""
    pictures: Sequence[str] = ()
    """An SVG document per value, shown below the chart and described by the text; or empty."""

    @sent
    def frames(self) -> Sequence[ChartDrawing]:
        """The charts as drawn."""
        return [ChartDrawing(screen_svg(one), _legend(one)) for one in self.charts]


@dataclass(frozen=True, eq=False)
class ChartPicture(Picture):
    """A chart; with a slider, the one at its position."""

    chart: Annotated[Chart, UNSENT]
    label: str
    """Description for screen readers."""
    knob: Slider | None = None

    @sent
    def below(self) -> str:
        """The title of the axis below."""
        return "" if isinstance(self.chart, Bars) else self.chart.x_title

    @sent
    def left(self) -> float:
        """px for the words before the axis."""
        return left_of(self.chart)

    @sent
    def right(self) -> float:
        """px for the words after the longest bar or for line names, at any position of the slider."""
        charts = [self.chart, *(self.knob.charts if self.knob else [])]
        return max(map(right_of, charts))

    @sent
    def height(self) -> float:
        """px"""
        return self.chart.height

    @sent
    def svg(self) -> str:
        """What is inside the axes."""
        return screen_svg(self.chart)

    @sent
    def legend(self) -> Sequence[LegendLine]:
        """Names of its lines, if they are not at their ends."""
        return _legend(self.chart)


def _legend(chart: Chart) -> list[LegendLine]:
    """Lines that are not named at their ends."""
    if isinstance(chart, Bars) or line_ends(chart):
        return []
    lines = zip(chart.series, colors_of(chart), strict=True)
    return [LegendLine(line.name, color, DASHES[line.dash]) for line, color in lines]
