"""Lines and bars: the figures hold the numbers given, and stand alone without a network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from viz.chart import Bars, Line, Lines
from viz.curves import ALONE, SERIES, figure, standalone
from viz.token_text import ems

ONE = Bars(labels=["<b>"], values=[1.0], words=["one"])


def chart(**options: Any) -> Lines:
    series = [Line("one", [1, 2, 3], [5, 6, 7]), Line("two", [1, 2], [0.5, 0.25], points=True)]
    return Lines(series=series, x_title="step", y_title="tokens / s", **options)


def line_figure(**options: Any) -> Any:
    return figure(chart(**options))


def test_lines_hold_their_numbers_and_both_axes_their_words():
    drawn = line_figure()
    assert [(trace.name, list(trace.x), list(trace.y)) for trace in drawn.data] == [
        ("one", [1, 2, 3], [5, 6, 7]),
        ("two", [1, 2], [0.5, 0.25]),
    ]
    assert [trace.mode for trace in drawn.data] == ["lines", "lines+markers"]
    assert [trace.line.color for trace in line_figure().data] == list(SERIES[:2])
    assert (drawn.layout.xaxis.title.text, drawn.layout.yaxis.title.text) == ("step", "tokens / s")


def test_axes_are_linear_from_zero_or_logarithmic():
    assert (line_figure().layout.yaxis.type, line_figure().layout.yaxis.rangemode) == ("linear", "tozero")
    both = line_figure(log_x=True, log_y=True).layout
    assert (both.xaxis.type, both.yaxis.type) == ("log", "log")


def test_a_marker_and_a_level_stand_at_their_values_with_their_words():
    drawn = line_figure(marker=(2.0, "W = 2"), level=(0.3, "int8"))
    upright, across = drawn.layout.shapes[:2]
    assert (upright.x0, upright.x1) == (2, 2)
    assert (across.y0, across.y1) == (0.3, 0.3)
    assert {note.text for note in drawn.layout.annotations} == {"W = 2", "int8", "one", "two"}


def test_on_a_logarithmic_axis_the_words_stand_where_their_lines_do():
    drawn = line_figure(log_x=True, log_y=True, x_range=(1, 1000), marker=(100.0, "W = 100"), level=(0.01, "int8"))
    upright, across = drawn.layout.shapes[:2]
    assert (upright.x0, across.y0) == (100, 0.01)
    words = {note.text: note for note in drawn.layout.annotations}
    assert (words["W = 100"].x, words["int8"].y) == (
        2,
        -2,
    )  # Plotly takes a shape's place as it is, a text's as a power
    assert list(drawn.layout.xaxis.range) == [0, 3]


def test_bars_go_from_the_top_in_the_given_order():
    drawn: Any = figure(
        Bars(labels=["a", "b", "c"], values=[3.0, None, 1.0], words=["three", "none", "one"], colors=[0, 0, 3])
    )
    trace = drawn.data[0]
    assert (list(trace.y), list(trace.x), list(trace.text)) == ([0, 2], [3.0, 1.0], ["three", "one"])
    assert list(trace.marker.color) == [SERIES[0], SERIES[3]]
    assert list(drawn.layout.yaxis.ticktext) == ["a", "b", "c"]
    assert drawn.layout.yaxis.range[0] > drawn.layout.yaxis.range[1]  # the first on top
    assert [(note.text, note.y) for note in drawn.layout.annotations] == [("none", 1)]


def test_the_words_after_a_bar_have_their_room_on_a_phone_too():
    own = "112 KB · this model"
    drawn: Any = figure(Bars(labels=["MHA", "MQA"], values=[4.0, 1.0], words=[own, "28.1 KB"]))
    assert list(drawn.layout.xaxis.range) == [0, 4]  # the longest bar ends where the words' room begins
    assert drawn.layout.margin.r >= ems(own) * 12 + 6
    drawn = figure(Bars(labels=["a name of forty", "b"], values=[None, 1.0], words=["so many words" * 4, "7 GB"]))
    assert drawn.layout.margin.r < 60  # words without a bar stand in the plot, which would be too narrow beside names


def test_a_token_that_is_markup_stands_as_it_is():
    drawn: Any = figure(ONE)
    assert drawn.layout.yaxis.ticktext == ("&lt;b&gt;",)  # Plotly reads <b> as bold, and entities as signs


@pytest.mark.parametrize("make", [line_figure, lambda: figure(ONE)])
def test_colours_are_places_that_the_theme_fills(make):
    assert tuple(make().layout.colorway) == SERIES


def test_a_page_of_its_own_has_its_colours_its_words_escaped_and_one_script():
    page = standalone([chart(heading="<u>H", note="n"), ONE], title="<i>T", caption="a\n<b>", lang="zh")
    text = page.decode()
    assert "lang='zh'" in text
    assert "<title>&lt;i&gt;T</title>" in text
    assert "a<br>&lt;b&gt;" in text
    assert "&lt;u&gt;H · n</h2>" in text
    assert all(color not in text.split("</script>")[-3] for color in SERIES)
    assert ALONE[0] in text
    assert not re.search(r"<(script|link)[^>]*\b(src|href)=", text)
    assert len(text) < 10_000_000


@pytest.mark.parametrize("xs, step", [(range(6), 1), (range(100), None), ((0.5, 1.0, 1.5), None)], ids=str)
def test_an_axis_of_a_few_counted_things_names_each_and_no_halves(xs: Sequence[float], step: object):
    drawn: Any = figure(Lines(series=[Line("one", list(xs), [1.0] * len(xs))], x_title="layer", y_title=""))
    assert drawn.layout.xaxis.dtick == step


@pytest.mark.parametrize("stop, tick", [(2048, "D2"), (512, "D2"), (20_000, 1)])
def test_a_logarithmic_axis_of_less_than_two_powers_of_ten_names_what_is_between(stop: int, tick: object):
    series = [Line("one", [128, stop], [1.0, 2.0])]
    layout: Any = figure(Lines(series=series, x_title="tokens", y_title="bytes", log_x=True)).layout
    assert layout.xaxis.dtick == tick


@pytest.mark.parametrize("values", [[12_500.0, 15_000.0], [0.3, 0.4, 0.6], [80.0, 300.0], [361.0, 913.0]], ids=str)
def test_a_logarithmic_axis_names_two_values_or_more_also_between_two_powers_of_ten(values):
    series = [Line("one", list(range(len(values))), values)]
    drawn: Any = figure(Lines(series=series, x_title="", y_title="", log_y=True))
    low, high = (10**end for end in drawn.layout.yaxis.range)
    assert low < values[0] < values[-1] < high
    assert sum(low <= tick <= high for tick in drawn.layout.yaxis.tickvals) >= 2
