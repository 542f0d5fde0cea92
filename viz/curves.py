"""Lines and bars over a few numbers, as Plotly figures whose colours the page's theme gives.

Knows nothing of models. A figure is meant for ``st.plotly_chart``, whose theme colours the series in their order; alone
it becomes a page that opens offline, with colours of its own.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

from viz.token_text import escaped

# Streamlit (1.67) puts the colours of theme.chartCategoricalColors, light or dark, in the place of these.
SERIES = ("#000001", "#000002", "#000003", "#000004")
ALONE = ("#5151A7", "#C46400", "#00976F", "#6B6E78")  # the same colours in a file of its own
CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "svg"},
    "scrollZoom": False,
}
ROOM = 1.4  # for the words after the longest bar
LOW = 240  # pixels: up to this height the words beside an axis take two lines
MARGIN = {"l": 8, "r": 12, "t": 26, "b": 8}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
PAGE = Template(
    "<!DOCTYPE html><html lang='$lang'><head><meta charset='utf-8'><title>$title</title></head>"
    "<body style='max-width:60rem;margin:2rem auto;font-family:$font'><h1 style='font-size:1.2rem'>$title</h1>"
    "$figures<p style='font-size:.85rem'>$caption</p></body></html>"
)


@dataclass(frozen=True)
class Line:
    """One series; ``dash`` as Plotly names it. ``points`` marks every value."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dash: str = "solid"
    points: bool = False


def lines(
    series: Sequence[Line],
    *,
    x_title: str,
    y_title: str,
    x_range: tuple[float, float] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    height: int = 300,
    marker: tuple[float, str] | None = None,
    level: tuple[float, str] | None = None,
) -> go.Figure:
    """Lines over a common axis. ``marker`` is a place on it with its words, ``level`` a value, drawn across."""
    figure = go.Figure()
    for line in series:
        mode = "lines+markers" if line.points else "lines"
        figure.add_scatter(
            x=list(line.x), y=list(line.y), name=line.name, mode=mode, line={"dash": line.dash, "width": 2.2},
            marker={"size": 5}, hovertemplate="%{y:.4~g}",
        )  # fmt: skip
    figure.update_xaxes(title=x_title, type="log" if log_x else "linear", range=_range(x_range, log=log_x))
    figure.update_yaxes(
        title=y_title if height > LOW else "<br>".join(textwrap.wrap(y_title, 16)),
        type="log" if log_y else "linear",
        rangemode="normal" if log_y else "tozero",
    )
    if log_x:
        figure.update_xaxes(dtick=1)
    if log_y:
        figure.update_yaxes(dtick=1)
    if marker is not None:
        figure.add_vline(x=marker[0], line={"dash": "dot", "width": 1.4, "color": SERIES[3]})
        figure.add_annotation(
            x=_place(marker[0], log=log_x), y=1, yref="paper", text=marker[1], showarrow=False, xanchor="left",
            yanchor="top", xshift=4,
        )  # fmt: skip
    if level is not None:
        figure.add_hline(y=level[0], line={"dash": "dot", "width": 1.2, "color": SERIES[3]})
        figure.add_annotation(
            x=1, xref="paper", y=_place(level[0], log=log_y), text=level[1], showarrow=False, xanchor="right",
            yanchor="bottom",
        )  # fmt: skip
    return _set(figure, height=height, hovermode="x unified")


def bars(
    labels: Sequence[str],
    values: Sequence[float | None],
    words: Sequence[str],
    *,
    colors: Sequence[int] = (),
    height: int = 300,
) -> go.Figure:
    """Horizontal bars, the first on top, each with its words; None has words but no bar.

    ``colors`` numbers each bar's colour among the theme's series; all are the first where it is empty.
    """
    places = list(range(len(labels)))
    shown = [place for place in places if values[place] is not None]
    figure = go.Figure()
    figure.add_bar(
        y=shown, x=[values[place] for place in shown], orientation="h", width=0.62, showlegend=False,
        text=[words[place] for place in shown], textposition="outside", cliponaxis=False,
        marker={"color": [SERIES[colors[place] if colors else 0] for place in shown]}, hoverinfo="skip",
    )  # fmt: skip
    for place in places:
        if values[place] is None:
            figure.add_annotation(x=0, xref="paper", y=place, text=words[place], showarrow=False, xanchor="left")
    longest = max((value for value in values if value is not None), default=1.0)
    span = [len(labels) - 0.5, -0.5]
    figure.update_yaxes(tickvals=places, ticktext=list(labels), range=span, showgrid=False, zeroline=False)
    figure.update_xaxes(range=[0, ROOM * longest], showticklabels=False, showgrid=False, zeroline=False)
    return _set(figure, height=height, margin=MARGIN | {"t": 0})


def standalone(figures: Sequence[go.Figure], *, title: str, caption: str, lang: str) -> bytes:
    """One HTML file with these figures that opens offline: Plotly's script is part of it."""
    parts = []
    for number, figure in enumerate(figures):
        text = str(figure.to_json())
        for name, color in zip(SERIES, ALONE, strict=True):
            text = text.replace(name, color)
        alone = pio.from_json(text)
        alone.update_layout(template="plotly_white", font={"family": FONT})
        parts.append(alone.to_html(full_html=False, include_plotlyjs=number == 0, config=CONFIG))
    words = "<br>".join(escaped(line) for line in caption.splitlines())
    page = PAGE.substitute(lang=escaped(lang), title=escaped(title), font=FONT, figures="".join(parts), caption=words)
    return page.encode("utf-8")


def _range(span: tuple[float, float] | None, *, log: bool) -> list[float] | None:
    """As Plotly wants it: powers of ten on a logarithmic axis."""
    return None if span is None else [_place(edge, log=log) for edge in span]


def _place(value: float, *, log: bool) -> float:
    """Where a range or an annotation has to say that a value is; shapes take the value itself."""
    return math.log10(value) if log else value


def _set(figure: go.Figure, *, height: int, **options: Any) -> go.Figure:
    legend = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "xanchor": "left"}
    figure.update_layout({"height": height, "margin": MARGIN, "colorway": list(SERIES), "legend": legend, **options})
    return figure
