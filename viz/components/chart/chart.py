"""A chart drawn by `viz/chart_svg.py` and changed in place: one whose numbers still come, or one with a slider.

With a slider there are several charts, one for each place of it, and the browser turns from one to the other while the
slider is drawn. Sends "knob", the value at which it came to rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viz.chart import Bars, Chart
from viz.chart_svg import DASHES, color_of, left_of, right_of, screen_svg
from viz.components.picture import Picture
from viz.components.source import read_source

SOURCE = read_source(Path(__file__).parent, "chart", '<div class="chart"></div>\n')


@dataclass(frozen=True)
class Slider:
    """Its places, each with the chart that belongs there and what is said of it; ``at`` is one of ``values``.

    ``names`` are the values as they are written, where not as they are. ``pictures``: an SVG document for each, which
    stands below the chart and is described by what is said.
    """

    label: str
    values: Sequence[float]
    at: float
    charts: Sequence[Chart]
    said: Sequence[str]
    names: Sequence[str] = ()
    pictures: Sequence[str] = ()


@dataclass(frozen=True)
class LegendLine:
    """A line's name, and how it is drawn."""

    name: str
    color: int
    dash: str


@dataclass(frozen=True)
class ChartDrawing:
    """What stands inside the axes, and the names of its lines."""

    svg: str
    legend: Sequence[LegendLine]


@dataclass(frozen=True)
class DrawnSlider:
    """A slider over charts that are drawn."""

    label: str
    values: Sequence[float]
    at: float
    said: Sequence[str]
    frames: Sequence[ChartDrawing]
    names: Sequence[str] = ()
    pictures: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class ChartPicture(Picture):
    """A chart as it is drawn."""

    label: str
    below: str
    left: float
    right: float
    """px for the words after the longest bar"""
    height: float
    svg: str
    legend: Sequence[LegendLine]
    knob: DrawnSlider | None


def chart_picture(chart: Chart, *, label: str, slider: Slider | None = None) -> ChartPicture:
    """`label` is what a screen reader says of it; with a slider, ``chart`` is the one where it stands."""
    drawn = _drawn(chart)
    return ChartPicture(
        label=label,
        below="" if isinstance(chart, Bars) else chart.x_title,
        left=left_of(chart),
        right=right_of(chart),
        height=chart.height,
        svg=drawn.svg,
        legend=drawn.legend,
        knob=None if slider is None else _knob(slider),
    )


def _knob(slider: Slider) -> DrawnSlider:
    frames = [_drawn(one) for one in slider.charts]
    return DrawnSlider(
        label=slider.label,
        values=slider.values,
        at=slider.at,
        said=slider.said,
        frames=frames,
        names=slider.names,
        pictures=slider.pictures,
    )


def _drawn(chart: Chart) -> ChartDrawing:
    legend: list[LegendLine] = []
    if not isinstance(chart, Bars):
        lines = enumerate(chart.series)
        legend = [LegendLine(line.name, color_of(chart, place), DASHES[line.dash]) for place, line in lines]
    return ChartDrawing(svg=screen_svg(chart), legend=legend)
