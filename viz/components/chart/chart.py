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
from viz.components.packing import JSON, pack
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


def payload(chart: Chart, *, label: str, slider: Slider | None = None) -> bytes:
    """`label` is what a screen reader says of it; with a slider, ``chart`` is the one where it stands."""
    knob: JSON = None
    if slider is not None:
        knob = {
            "label": slider.label, "values": list(slider.values), "at": slider.at, "said": list(slider.said),
            "frames": [_drawn(one) for one in slider.charts], "names": list(slider.names),
            "pictures": list(slider.pictures),
        }  # fmt: skip  # a pair a name
    meta: dict[str, JSON] = {
        "label": label,
        "below": "" if isinstance(chart, Bars) else chart.x_title,
        "left": left_of(chart),
        "right": right_of(chart),
        "height": chart.height,
        "knob": knob,
    }
    return pack(meta | _drawn(chart), {})


def _drawn(chart: Chart) -> dict[str, JSON]:
    """What stands inside the axes, and the names of its lines."""
    legend: list[JSON] = []
    if not isinstance(chart, Bars):
        legend += [
            {"name": line.name, "color": color_of(chart, place), "dash": DASHES[line.dash]}
            for place, line in enumerate(chart.series)
        ]
    return {"svg": screen_svg(chart), "legend": legend}
