"""Charts as SVG: a document with one or several below one another, or the inside of one on the screen.

Plotly cannot write SVG without a browser. Positions are shares of the plot's width and height: in units of a document,
or in percent on the screen, where a chart is as wide as its container while text and strokes keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from viz.chart import Axis, Bars, Chart, Line, Lines, axes_of, tick_words, words_after, words_below
from viz.curves import ALONE, colors_of
from viz.line_ends import BEFORE, GAP, STROKE, LineEnd, ends_take, line_ends
from viz.line_ends import LINE as NAME_LINE
from viz.svg import FONT, LIGHT, LINE, MARGIN, document, element, text
from viz.token_text import ems, wrapped

DASHES = {"solid": "", "dash": "9 5", "dot": "2 4", "dashdot": "9 4 2 4"}
_COLORS = (*ALONE, LIGHT.quiet)
_SMALL = 11  # px, of the axes' words
_WIDTH = 1000  # of a document
_NARROW = 270  # px: a plot on a phone, where the words of an axis must not overlap
_SAMPLE = 26  # px, of a line in the legend
_BAR = 0.62  # share of a row's height


@dataclass(frozen=True)
class Plot:
    """The rectangle of the values. ``fluid``: it fills its container, whatever its size."""

    left: float = 0
    top: float = 0
    width: float = 1000
    height: float = 1000
    fluid: bool = False

    def x(self, share: float) -> float | str:
        """Distance from the left edge, as an attribute."""
        return f"{100 * share:.4g}%" if self.fluid else round(self.left + share * self.width, 2)

    def y(self, share: float) -> float | str:
        """Distance from the lower edge, as an attribute."""
        return f"{100 * (1 - share):.4g}%" if self.fluid else round(self.top + (1 - share) * self.height, 2)

    def wide(self, share: float) -> float | str:
        """A part of the width."""
        return f"{100 * share:.4g}%" if self.fluid else round(share * self.width, 2)

    def high(self, share: float) -> float | str:
        """A part of the height."""
        return f"{100 * share:.4g}%" if self.fluid else round(share * self.height, 2)

    def point(self, x: float, y: float) -> str:
        """A point of a path, which cannot use percent: in the units of ``stretched``."""
        return f"{self.left + x * self.width:.2f} {self.top + (1 - y) * self.height:.2f}"

    def stretched(self, *paths: str) -> str:
        """These paths, stretched over the whole plot, with strokes of constant width."""
        if not self.fluid:
            return "".join(paths)
        box, size = {"viewBox": f"0 0 {self.width:g} {self.height:g}"}, {"width": "100%", "height": "100%"}
        return element("svg", *paths, **box, **size, preserveAspectRatio="none", overflow="visible")


def charts_svg(charts: Sequence[Chart], *, title: str, caption: str) -> str:
    """The document: each chart under its heading, as high as on the screen. Strings are escaped here."""
    y, body = MARGIN + 30.0, list[str]()
    for chart in charts:
        found = _alone(chart, y)
        body += found[0]
        y = found[1] + 26
    return document(body, width=_WIDTH, below=y + 8, title=title, caption=caption, room=4)


def screen_svg(chart: Chart) -> str:
    """What is inside the axes, filling its container, with space for ``left_of`` and ``right_of`` beside it."""
    drawn = _inside(chart, Plot(fluid=True))
    size = {"width": "100%", "height": "100%", "overflow": "visible"}
    return element("svg", *drawn, xmlns="http://www.w3.org/2000/svg", **size)


def left_of(chart: Chart) -> float:
    """px for the words left of the plot."""
    words = chart.labels if isinstance(chart, Bars) else [tick_words(tick) for tick in axes_of(chart)[1].ticks()]
    size, beside = (FONT, 10) if isinstance(chart, Bars) else (_SMALL, 32)
    return math.ceil(max((ems(word) for word in words), default=0) * size * 1.05 + beside)


def right_of(chart: Chart) -> float:
    """px right of the plot, for the names of lines or the words after each bar."""
    return chart.beside if isinstance(chart, Bars) else max(12, ends_take(chart))


# ---- a chart in a document ------------------------------------------------------------------------------------------


def _alone(chart: Chart, y: float) -> tuple[list[str], float]:
    """Heading, legend, plot and the words below it; and where it ends."""
    body = list[str]()
    if chart.heading:
        body.append(text(chart.heading, "bold", x=MARGIN, y=y + 12))
        beside = MARGIN + ems(chart.heading) * FONT * 1.1 + 12
        body.append(text(chart.note, "quiet", x=beside, y=y + 12) if chart.note else "")
        y += 26
    left = MARGIN + left_of(chart)
    if isinstance(chart, Bars):
        width = _WIDTH - MARGIN - left
        return [*body, *_bars(chart, Plot(left, y, width, chart.height))], y + chart.height
    width = _WIDTH - MARGIN - left - ends_take(chart)
    legend, y = ([], y + LINE / 2) if line_ends(chart) else _legend(chart, left, y)
    plot = Plot(left, y + 6, width, chart.height - 60)
    under = plot.top + plot.height + 36
    titles = wrapped(chart.x_title, width / FONT)
    body += [
        text(line, "quiet", x=plot.x(0.5), y=under + i * LINE, text_anchor="middle") for i, line in enumerate(titles)
    ]
    return [*body, *legend, *_lines(chart, plot)], under + LINE * (len(titles) - 1)


def _legend(chart: Lines, left: float, y: float) -> tuple[list[str], float]:
    """A sample of every line beside its name, in as many rows as needed; and where they end."""
    found, x = list[str](), left
    for line, color in zip(chart.series, colors_of(chart), strict=True):
        width = _SAMPLE + 8 + ems(line.name) * FONT * 1.08 + 22
        if x > left and x + width > _WIDTH - MARGIN:
            x, y = left, y + LINE + 2
        sample = element("path", d=f"M{x:.1f} {y + 8:.1f}h{_SAMPLE}", **_stroke(line, color))
        found += [sample, text(line.name, x=x + _SAMPLE + 8, y=y + 12)]
        x += width
    return found, y + LINE + 4


# ---- inside the axes ------------------------------------------------------------------------------------------------


def _inside(chart: Chart, plot: Plot) -> Iterator[str]:
    return _bars(chart, plot) if isinstance(chart, Bars) else _lines(chart, plot)


def _lines(chart: Lines, plot: Plot) -> Iterator[str]:
    x_axis, y_axis = axes_of(chart)
    ticks = y_axis.ticks()
    for at in map(y_axis.share, ticks):
        ends = {"x1": plot.x(0), "x2": plot.x(1), "y1": plot.y(at), "y2": plot.y(at)}
        yield element("line", **ends, class_="rule", stroke=LIGHT.rule)
    shown = [(tick_words(tick), y_axis.share(tick)) for tick in ticks]
    marks = [text(words, x=plot.x(0), dx=-6, y=plot.y(at), dy=4, text_anchor="end") for words, at in shown]
    yield element("g", *marks, class_="quiet y-ticks")
    places = x_axis.ticks() if not chart.ticks else chart.ticks
    shown = _apart([(tick_words(tick), x_axis.share(tick)) for tick in places], _NARROW if plot.fluid else plot.width)
    marks = [text(words, x=plot.x(at), y=plot.y(0), dy=16, text_anchor="middle") for words, at in shown]
    yield element("g", *marks, class_="quiet x-ticks")
    aside = f"translate({12 - left_of(chart):g} 0) rotate(-90)"
    turned = text(chart.y_title, "quiet", transform=aside, text_anchor="middle")
    yield element("svg", turned, x=plot.x(0), y=plot.y(0.5), overflow="visible")
    colors = colors_of(chart)
    for end in line_ends(chart):
        yield _name(end, chart.series[end.place], colors[end.place], plot)
    yield plot.stretched(
        *(_path(line, color, plot, x_axis, y_axis) for line, color in zip(chart.series, colors, strict=True))
    )
    dotted = {"class_": "s3", "color": _COLORS[3], "stroke": "currentColor", "stroke_dasharray": DASHES["dot"]}
    if chart.marker is not None:
        at, words = x_axis.share(chart.marker[0]), chart.marker[1]
        yield element("line", x1=plot.x(at), x2=plot.x(at), y1=plot.y(0), y2=plot.y(1), **dotted, stroke_width=1.4)
        side = {"dx": 5, "text_anchor": "start"} if words_after(at) else {"dx": -5, "text_anchor": "end"}
        yield text(words, "quiet at-marker", x=plot.x(at), y=plot.y(1 - words_below(chart)), dy=13, **side)
    if chart.level is not None:
        at, words = y_axis.share(chart.level[0]), chart.level[1]
        yield element("line", x1=plot.x(0), x2=plot.x(1), y1=plot.y(at), y2=plot.y(at), **dotted, stroke_width=1.2)
        yield text(words, "quiet", x=plot.x(1), y=plot.y(at), dy=-5, text_anchor="end")


def _name(end: LineEnd, line: Line, color: int, plot: Plot) -> str:
    """A line's name with a sample that leads from its end; in px, whatever the plot's size."""
    sample = element("path", d=f"M{GAP / 2:g} 0L{GAP + STROKE} {-end.up:g}", **_stroke(line, color))
    first = -end.up - (len(end.words) - 1) * NAME_LINE / 2 + 4
    words = [text(one, "end", x=BEFORE, y=first + row * NAME_LINE) for row, one in enumerate(end.words)]
    return element("svg", sample, *words, x=plot.x(end.x), y=plot.y(end.y), overflow="visible")


def _path(line: Line, color: int, plot: Plot, x_axis: Axis, y_axis: Axis) -> str:
    """The line through all drawable points, with a dot on each if it has ``points``."""
    begun, path, dots = False, "", ""
    for x, y in zip(line.x, line.y, strict=True):
        at = x_axis.share(x), y_axis.share(y)
        if not all(map(math.isfinite, at)):
            begun = False
            continue
        path += f"{'L' if begun else 'M'}{plot.point(*at)}"
        dots += f"M{plot.point(*at)}h0"
        begun = True
    look = _stroke(line, color, fluid=plot.fluid)
    drawn = element("path", d=path, **look) if path and line.joined else ""
    if not (dots and line.points):
        return drawn
    round_ones = {"class_": f"dots s{color}", "stroke_width": 5.5, "stroke_dasharray": ""}
    return drawn + element("path", d=dots, **(look | round_ones))


def _bars(chart: Bars, plot: Plot) -> Iterator[str]:
    row = 1 / max(1, len(chart.labels))
    for place, (label, value, words) in enumerate(zip(chart.labels, chart.values, chart.words, strict=True)):
        middle = 1 - (place + 0.5) * row
        share = 0.0 if value is None else value / (chart.most if plot.fluid else chart.span)
        color = chart.colors[place] if chart.colors else 0
        yield text(label, x=plot.x(0), dx=-8, y=plot.y(middle), dy=4, text_anchor="end")
        if value is not None:
            size = {"width": plot.wide(share), "height": plot.high(_BAR * row)}
            look = {"class_": f"bar s{color}", "color": _COLORS[color], "fill": "currentColor"}
            yield element("rect", x=plot.x(0), y=plot.y(middle + _BAR * row / 2), **size, **look)
        yield text(words, x=plot.x(share), dx=6 if share else 2, y=plot.y(middle), dy=4)


def _stroke(line: Line, color: int, *, fluid: bool = False) -> dict[str, str | float]:
    """A line's style; its class provides the screen's colours, light and dark."""
    return {
        "class_": f"line s{color}", "color": _COLORS[color], "stroke": "currentColor", "fill": "none",
        "stroke_width": 2.2, "stroke_dasharray": DASHES[line.dash], "stroke_linejoin": "round",
        "stroke_linecap": "round", "vector_effect": "non-scaling-stroke" if fluid else "",
    }  # fmt: skip  # one idea a line


def _apart(ticks: Sequence[tuple[str, float]], width: float) -> list[tuple[str, float]]:
    """The ticks whose words do not overlap earlier ones on an axis of this width; none beyond its ends."""
    found = list[tuple[str, float]]()
    free = -math.inf
    for words, at in ticks:
        half = ems(words) * _SMALL / 2
        if -1e-9 <= at <= 1 + 1e-9 and at * width - half >= free:
            found.append((words, at))
            free = at * width + half + 6
    return found
