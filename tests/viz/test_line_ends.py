"""Lines are named at their ends: in their order, without meeting one another, a line or a mark; else by a legend."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from viz.chart import Line, Lines
from viz.chart_svg import charts_svg, right_of
from viz.components.chart.chart import ChartPicture
from viz.curves import SERIES, colors_of, figure
from viz.line_ends import AROUND, BEFORE, LINE, line_ends
from viz.token_text import ems


def chart(*ends: float, names: Any = None, **options: Any) -> Lines:
    series = [Line(name, [0, 10], [5.0, y]) for name, y in zip(names or "abcdefghijk", ends, strict=False)]
    return Lines(**{"series": series, "x_title": "step", "y_title": "cost", "y_range": (0, 10)} | options)


def middles(drawn: Lines) -> list[float]:
    """px above the lower edge at which the middle of each name stands."""
    return [end.y * (drawn.height - AROUND) + end.up for end in line_ends(drawn)]


def test_names_that_have_room_stand_where_their_lines_end():
    assert [(end.words, end.x, end.y, end.up) for end in line_ends(chart(1, 5, 9))] == [
        (("a",), 1, 0.1, 0), (("b",), 1, 0.5, 0), (("c",), 1, 0.9, 0)
    ]  # fmt: skip  # three ends


@pytest.mark.parametrize("ends", [(5, 5, 5), (5.1, 5, 4.9, 0.1), (0, 0, 0, 10, 10), tuple(range(8))], ids=str)
def test_names_are_moved_apart_in_the_order_of_their_lines_and_stay_beside_the_plot(ends):
    drawn = chart(*ends)
    heights = sorted(zip(middles(drawn), ends, strict=True))
    assert len(heights) == len(ends)
    assert [end for _height, end in heights] == sorted(ends)
    assert all(two - one >= LINE for (one, _), (two, _) in itertools.pairwise(heights))
    assert heights[0][0] >= -LINE
    assert heights[-1][0] <= drawn.height - AROUND + LINE


def test_a_long_name_takes_as_many_lines_as_it_needs_and_its_room():
    drawn = chart(5, 5, names=("recurrent net: a step for each token between", "attention"))
    long, short = line_ends(drawn)
    assert " ".join(long.words) == drawn.series[0].name
    assert len(long.words) > 1
    assert abs(long.up - short.up) >= LINE * (len(long.words) + 1) / 2
    assert right_of(drawn) >= BEFORE + 12 * max(map(ems, long.words))


@pytest.mark.parametrize(
    "drawn",
    [chart(5), chart(*range(9)), chart(*[5] * 8, height=140),
     Lines(series=[Line("a", [0, 1], [0, 1]), Line("b", [0, 1], [1, 0], joined=False)], x_title="", y_title="")],
    ids=["one", "many", "no room", "points"],
)  # fmt: skip  # four charts
def test_one_line_many_or_no_room_keep_their_legend(drawn: Lines):
    assert line_ends(drawn) == []
    assert right_of(drawn) == 12
    assert [line.name for line in ChartPicture(drawn, label="").legend] == [line.name for line in drawn.series]
    plotted: Any = figure(drawn)
    assert plotted.layout.showlegend is None
    assert all(f">{line.name}</text>" in charts_svg([drawn], title="", caption="") for line in drawn.series)


def test_a_line_that_ends_early_is_named_behind_its_end_unless_lines_leave_no_room():
    early, flat = Line("early", [0, 3], [1.0, 2.0]), Line("long", [0, 10], [9.0, 9.0])
    drawn = chart(series=[early, flat])
    assert [(end.x, end.y, end.up) for end in line_ends(drawn)] == [(0.3, 0.2, 0), (1, 0.9, 0)]
    crossed = [Line("long", [0, 3, 3.1, 3.2, 10], [9.0, 0.0, 10.0, 0.0, 10.0])]
    assert line_ends(chart(series=[early, *crossed])) == []


def test_a_line_without_a_point_yet_has_no_name_and_keeps_its_room():
    drawn = chart(series=[Line("a long name", [], []), Line("b", [0, 10], [1.0, 2.0]), Line("c", [0], [math.nan])])
    assert [end.words for end in line_ends(drawn)] == [("b",)]
    assert right_of(drawn) > BEFORE + 12 * ems("b") + 30


def test_plotly_names_each_line_at_its_value_in_its_colour_and_escapes_it():
    drawn: Any = figure(chart(100.0, 1000.0, names=("<b>", "two"), y_range=None, log_y=True))
    assert drawn.layout.showlegend is False
    assert [(note.text, round(10**note.y)) for note in drawn.layout.annotations] == [("&lt;b&gt;", 100), ("two", 1000)]
    assert [(shape.line.color, round(shape.yanchor)) for shape in drawn.layout.shapes] == [
        (SERIES[0], 100), (SERIES[1], 1000)
    ]  # fmt: skip  # two lines


def test_no_two_of_five_lines_and_a_quiet_one_have_the_same_colour():
    series = [Line(name, [0, 1], [0, 1], quiet=name == "q") for name in "abqcde"]
    colors = colors_of(chart(series=series))
    assert len(set(colors)) == 6
    assert 3 not in colors  # the grey of markers
