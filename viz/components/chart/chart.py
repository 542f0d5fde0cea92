"""A chart whose numbers still come: drawn by `viz/chart_svg.py`, and changed in place with every new one."""

from __future__ import annotations

from pathlib import Path

from viz.chart import Bars, Chart
from viz.chart_svg import DASHES, color_of, left_of, screen_svg
from viz.components.packing import JSON, pack
from viz.components.source import read_source

SOURCE = read_source(Path(__file__).parent, "chart", '<div class="chart"></div>\n')


def payload(chart: Chart, *, label: str) -> bytes:
    """`label` is what a screen reader says of it."""
    legend: list[JSON] = []
    if not isinstance(chart, Bars):
        legend += [
            {"name": line.name, "color": color_of(chart, place), "dash": DASHES[line.dash]}
            for place, line in enumerate(chart.series)
        ]
    meta: dict[str, JSON] = {
        "svg": screen_svg(chart),
        "label": label,
        "legend": legend,
        "below": "" if isinstance(chart, Bars) else chart.x_title,
        "left": left_of(chart),
        "height": chart.height,
    }
    return pack(meta, {})
