"""A chart's positions of values on its axes, and the labels of its ticks."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from viz.chart import Axis, Bars, Line, Lines, axes_of, on_one_scale, tick_words, words_below


def chart(x=(1, 2, 3), y=(5.0, 6.0, 7.0), **options):
    return Lines(series=[Line("one", x, y)], x_title="", y_title="", **options)


@pytest.mark.parametrize(
    "axis, ticks",
    [
        (Axis(0, 100), [0, 20, 40, 60, 80, 100]),
        (Axis(0, 7.35), [0, 2, 4, 6]),
        (Axis(0.9, 8.8), [2, 4, 6, 8]),
        (Axis(0, 0.003), [0, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003]),
        (Axis(8, 3e6, log=True), [10, 100, 1000, 1e4, 1e5, 1e6]),
        (Axis(12, 70, log=True), [20, 50]),
        (Axis(22, 41, log=True), [25, 30, 35, 40]),
        (Axis(1, 1e12, log=True), [1, 100, 1e4, 1e6, 1e8, 1e10, 1e12]),
    ],
)
def test_ticks_are_few_round_values_between_the_ends(axis, ticks):
    assert axis.ticks() == pytest.approx(ticks)


def test_an_axis_of_counted_things_names_no_halves():
    layers = axes_of(chart(x=(0, 1, 2)))[0]
    assert layers.ticks() == [0, 1, 2]
    assert Axis(layers.low, layers.high).ticks() == [0, 0.5, 1, 1.5, 2]
    assert 0.5 in axes_of(chart(x=(0, 1, 2.5)))[0].ticks()


def test_linear_values_begin_at_zero_and_logarithmic_ones_where_they_are():
    assert axes_of(chart())[1] == Axis(0, pytest.approx(7.35))
    assert axes_of(chart(log_y=True))[1] == Axis(pytest.approx(5 / 1.2), pytest.approx(8.4), log=True)
    assert axes_of(chart(y=(-2.0, 1.0, 3.0)))[1].low == -2


def test_a_level_is_within_the_axis():
    assert axes_of(chart(level=(20.0, "")))[1].high == pytest.approx(21)


@pytest.mark.parametrize("values", [(), (math.nan,) * 3, (0.0, 0.0, 0.0), (4.0, 4.0, 4.0)])
@pytest.mark.parametrize("log", [False, True])
def test_an_axis_of_no_values_or_one_has_two_ends_all_the_same(values, log):
    for axis in axes_of(chart(x=values, y=values, log_x=log, log_y=log)):
        assert axis.low < axis.high
        assert axis.ticks()


def test_what_a_logarithm_has_no_place_for_has_none():
    assert Axis(1, 100, log=True).share(10) == pytest.approx(0.5)
    assert math.isnan(Axis(1, 100, log=True).share(0))
    assert math.isnan(Axis(0, 100).share(math.nan))


@pytest.mark.parametrize(
    "value, words",
    [
        (0, "0"),
        (0.0005, "0.0005"),
        (1000, "1000"),
        (10_000, "10k"),
        (1e6, "1M"),
        (2.5e9, "2.5G"),
        (1e15, "1P"),
        (-3, "−3"),
        (1e-4, "10⁻⁴"),
        (1e-7, "10⁻⁷"),
        (2e-5, "2 × 10⁻⁵"),
        (-2.5e-6, "−2.5 × 10⁻⁶"),
    ],
)
def test_ticks_are_written_as_plotly_writes_them(value, words):
    assert tick_words(value) == words


@pytest.mark.parametrize("values, span", [([2.0, None], 2.8), ([None], 1.4), ([0.0], 1.4)])
def test_bars_leave_room_for_their_words(values, span):
    assert Bars(labels=[""] * len(values), values=values, words=[""] * len(values)).span == pytest.approx(span)


def test_on_one_scale_equal_values_are_equally_long_and_words_have_the_same_place():
    first = Bars(labels=["a", "b"], values=[0.5, 0.25], words=["1 · 50 %", "1 · 25 %"])
    second = Bars(labels=["a", "b"], values=[1.0, None], words=["2 · 100 % and more words", "none"])
    none = Bars(labels=["a", "b"], values=[0.0, 0.0], words=["", ""])
    charts = on_one_scale([first, second, none])
    assert [chart.most for chart in charts] == [1.0, 1.0, 1.0]
    assert len({chart.span for chart in charts}) == 1
    assert len({chart.beside for chart in charts}) == 1
    assert [chart.values for chart in charts] == [first.values, second.values, none.values]
    assert on_one_scale([none])[0].most == 1.0


@pytest.mark.parametrize("place", [1.0, 4.0, 9.0])
def test_words_at_a_marker_meet_no_line(place: float):
    flat = Line("all", [0.0, 10.0], [10.0, 10.0])
    rising = Line("part", [0.0, 5.0, 10.0], [0.0, 9.0, 9.5])
    drawn = Lines(series=[flat, rising], x_title="x", y_title="y", marker=(place, "here"), height=260)
    below = words_below(drawn)
    tall = 11 / 190  # px of the words, of the plot's
    high = 10.5 * (1 - below), 10.5 * (1 - below - tall)  # values at their upper and lower edge; the axis ends at 10.5
    assert not high[1] <= 10 <= high[0]
    at = rising.y[0] + (place - 0.0) * 9 / 5 if place <= 5 else 9 + (place - 5) * 0.1
    assert not high[1] <= at <= high[0]
    assert 0 <= below < 1
    assert words_below(replace(drawn, series=[rising], marker=(1.0, "here"))) == 0
