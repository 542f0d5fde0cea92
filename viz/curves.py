"""Charts as Plotly figures coloured by the page's theme.

A figure is meant for ``st.plotly_chart``, whose theme colours the series in order; standalone it becomes an offline
page with colours of its own.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Sequence
from string import Template
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

from viz.chart import Bars, Chart, Lines, axes_of, tick_words, words_after, words_below
from viz.line_ends import BEFORE, GAP, STROKE, ends_take, line_ends
from viz.token_text import escaped

# Streamlit (1.67) replaces these by theme.chartCategoricalColors, light or dark.
SERIES = ("#000001", "#000002", "#000003", "#000004", "#000005", "#000006")
ALONE = ("#5151A7", "#C46400", "#00976F", "#6B6E78", "#B4478A", "#2A7FB8")  # the same colours in a standalone file
COLORED = (0, 1, 2, 4, 5)  # of lines: the fourth is the grey of markers and levels
QUIET_SERIES = len(SERIES)  # index of a colour outside the series
QUIET = "rgba(128, 128, 128, 0.9)"  # legible on both themes
CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "svg"},
    "scrollZoom": False,
}
LOW = 240  # px: up to this height the words beside an axis take two lines
FEW = 12  # values on a wide axis: with fewer, Plotly would label halves
MARGIN = {"l": 8, "r": 12, "t": 26, "b": 8}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
# For the app's page, whose charts are scaled as a whole (ui/shell/frame.css): Streamlit's theme (1.67) would take sizes
# from the window in which a chart is first drawn, and keep them.
WORDS, TITLES = {"size": 11.25}, {"size": 13}
IN_PAGE: dict[str, Any] = {
    "font": WORDS, "legend": {"font": WORDS}, "hoverlabel": {"font": WORDS}, "margin": {"pad": 7.5},
    "xaxis": {"tickfont": WORDS, "title": {"font": TITLES, "standoff": 8}},
    "yaxis": {"tickfont": WORDS, "title": {"font": TITLES, "standoff": 12}},
}  # fmt: skip  # a part a line
PAGE = Template(
    "<!DOCTYPE html><html lang='$lang'><head><meta charset='utf-8'><title>$title</title></head>"
    "<body style='max-width:60rem;margin:2rem auto;font-family:$font'><h1 style='font-size:1.2rem'>$title</h1>"
    "$figures<p style='font-size:.85rem'>$caption</p></body></html>"
)


def figure(chart: Chart) -> go.Figure:
    """The chart as a Plotly figure."""
    return _bars(chart) if isinstance(chart, Bars) else _lines(chart)


def page_figure(chart: Chart) -> go.Figure:
    """The same for the app's page, with sizes in the page's px."""
    return figure(chart).update_layout(IN_PAGE)


def standalone(charts: Sequence[Chart], *, title: str, caption: str, lang: str) -> bytes:
    """One HTML file with these charts that opens offline, including Plotly's script."""
    parts = []
    for number, chart in enumerate(charts):
        parts += [f"<h2 style='font-size:1rem'>{_heading(chart)}</h2>"] if chart.heading else []
        text = str(figure(chart).to_json())
        for name, color in zip(SERIES, ALONE, strict=True):
            text = text.replace(name, color)
        alone = pio.from_json(text)
        alone.update_layout(template="plotly_white", font={"family": FONT})
        parts.append(alone.to_html(full_html=False, include_plotlyjs=number == 0, config=CONFIG))
    words = "<br>".join(escaped(line) for line in caption.splitlines())
    page = PAGE.substitute(lang=escaped(lang), title=escaped(title), font=FONT, figures="".join(parts), caption=words)
    return page.encode("utf-8")


def _lines(chart: Lines) -> go.Figure:
    drawn = go.Figure()
    for line, number in zip(chart.series, colors_of(chart), strict=True):
        color = _color(number)
        marked = "lines+markers" if line.points else "lines"
        drawn.add_scatter(
            x=list(line.x), y=list(line.y), name=line.name, mode=marked if line.joined else "markers",
            line={"dash": line.dash, "width": 2.2, "color": color}, marker={"size": 5, "color": color},
            hovertemplate="%{y:.4~g}", cliponaxis=False,
        )  # fmt: skip
    log_x, log_y = chart.log_x, chart.log_y
    below = re.sub("([;；]) ?", r"\1<br>", chart.x_title)  # on a phone two clauses do not fit on a line
    beside = chart.y_title if chart.height > LOW else "<br>".join(textwrap.wrap(chart.y_title, 16))
    drawn.update_xaxes(title=below, type="log" if log_x else "linear", range=_range(chart.x_range, log=log_x))
    drawn.update_yaxes(
        title=beside,
        type="log" if log_y else "linear",
        rangemode="normal" if log_y else "tozero",
        range=_range(chart.y_range, log=log_y),
    )
    ends, upright = axes_of(chart)
    if ends.counts and ends.high - ends.low <= FEW:
        drawn.update_xaxes(dtick=1)
    if log_x:
        powers = math.floor(math.log10(ends.high)) - math.ceil(math.log10(ends.low)) + 1
        drawn.update_xaxes(dtick=1 if powers > 1 else "D2", exponentformat="SI extended")  # D2: 1, 2 and 5 of a power
    if log_y:
        drawn.update_yaxes(dtick=1, exponentformat="SI extended")  # G, not B for billion
        if math.ceil(math.log10(upright.low)) >= math.floor(math.log10(upright.high)):  # fewer than two powers of ten
            span = _range((upright.low, upright.high), log=True)
            drawn.update_yaxes(tickmode="array", tickvals=upright.ticks(), range=span)
    for axis, update in ((ends, drawn.update_xaxes), (upright, drawn.update_yaxes)):
        if (axis.low if axis.log else axis.high) < 1e-3:  # as powers of ten, where Plotly would write 100n
            named = axis.ticks()
            update(tickmode="array", tickvals=named, ticktext=[tick_words(value) for value in named])
    if chart.ticks:
        drawn.update_xaxes(tickmode="array", tickvals=list(chart.ticks))
    if chart.marker is not None:
        at, words = chart.marker
        after = words_after(ends.share(at))
        drawn.add_vline(x=at, line={"dash": "dot", "width": 1.4, "color": SERIES[3]})
        drawn.add_annotation(
            x=_place(at, log=log_x), y=1 - words_below(chart), yref="paper", text=words, showarrow=False,
            xanchor="left" if after else "right", yanchor="top", xshift=4 if after else -4,
        )  # fmt: skip
    if chart.level is not None:
        at, words = chart.level
        drawn.add_hline(y=at, line={"dash": "dot", "width": 1.2, "color": SERIES[3]})
        drawn.add_annotation(
            x=1, xref="paper", y=_place(at, log=log_y), text=words, showarrow=False, xanchor="right", yanchor="bottom"
        )
    _name_ends(drawn, chart)
    margin = MARGIN | ({"r": ends_take(chart), "t": 12} if line_ends(chart) else {})
    return _set(drawn, height=chart.height, hovermode="x unified", margin=margin)


def _name_ends(drawn: go.Figure, chart: Lines) -> None:
    """Put each line's name at its end, with a sample of the line, instead of a legend."""
    ends = line_ends(chart)
    across, upright = axes_of(chart)
    if ends:
        span = (across.low, across.high)
        drawn.update_layout(showlegend=False).update_xaxes(range=_range(span, log=chart.log_x))
    colors = colors_of(chart)
    for end in ends:
        line = chart.series[end.place]
        color = _color(colors[end.place])
        y = upright.value(end.y)
        x, xref = (1, "paper") if end.x == 1 else (across.value(end.x), "x")
        drawn.add_shape(
            type="line", xref=xref, xsizemode="pixel", xanchor=x, x0=GAP / 2, x1=GAP + STROKE, yref="y",
            ysizemode="pixel", yanchor=y, y0=0, y1=end.up, line={"color": color, "width": 2.2, "dash": line.dash},
        )  # fmt: skip
        drawn.add_annotation(
            x=x if end.x == 1 else _place(x, log=chart.log_x), xref=xref, xshift=BEFORE,
            y=_place(y, log=chart.log_y), yshift=end.up, text="<br>".join(map(escaped, end.words)), showarrow=False,
            xanchor="left", yanchor="middle", align="left", borderpad=0,
        )  # fmt: skip


def _color(number: int) -> str:
    return QUIET if number == QUIET_SERIES else SERIES[number]


def colors_of(chart: Lines) -> list[int]:
    """The colour index of each line: a separate one for quiet lines, otherwise the next of ``COLORED``."""
    numbers = itertools.cycle(COLORED)
    own = [QUIET_SERIES if line.quiet else 0 if line.like is not None else next(numbers) for line in chart.series]
    return [color if line.like is None else own[line.like] for line, color in zip(chart.series, own, strict=True)]


def _bars(chart: Bars) -> go.Figure:
    values, words, colors = chart.values, chart.words, chart.colors
    places = list(range(len(chart.labels)))
    shown = [place for place in places if values[place] is not None]
    drawn = go.Figure()
    drawn.add_bar(
        y=shown, x=[values[place] for place in shown], orientation="h", width=0.62, showlegend=False,
        text=[words[place] for place in shown], textposition="outside", cliponaxis=False,
        marker={"color": [SERIES[colors[place] if colors else 0] for place in shown]}, hoverinfo="skip",
    )  # fmt: skip
    for place in places:
        if values[place] is None:
            drawn.add_annotation(x=0, xref="paper", y=place, text=words[place], showarrow=False, xanchor="left")
    span = [len(places) - 0.5, -0.5]
    labels = [escaped(label) for label in chart.labels]  # a token “<b>” is not markup
    drawn.update_yaxes(tickvals=places, ticktext=labels, range=span, showgrid=False, zeroline=False)
    drawn.update_xaxes(range=[0, chart.most], showticklabels=False, showgrid=False, zeroline=False)
    return _set(drawn, height=chart.height, margin=MARGIN | {"t": 0, "r": chart.beside})


def _range(span: tuple[float, float] | None, *, log: bool) -> list[float] | None:
    """A range for Plotly: powers of ten on a logarithmic axis."""
    return None if span is None else [_place(edge, log=log) for edge in span]


def _place(value: float, *, log: bool) -> float:
    """A value's position in ranges and annotations; shapes take the value itself."""
    return math.log10(value) if log else value


def _heading(chart: Chart) -> str:
    return escaped(f"{chart.heading} · {chart.note}" if chart.note else chart.heading)


def _set(drawn: go.Figure, *, height: int, **options: Any) -> go.Figure:
    legend = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "xanchor": "left"}
    drawn.update_layout({"height": height, "margin": MARGIN, "colorway": list(SERIES), "legend": legend, **options})
    return drawn
