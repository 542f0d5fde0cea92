"""Charts as SVG: every point and bar, read back through the ticks of its axes, is its number; words stay words."""

from __future__ import annotations

import math
import re
from pathlib import Path
from tomllib import loads
from typing import Any
from xml.etree import ElementTree

import pytest

from viz.chart import Bars, Chart, Line, Lines
from viz.chart_svg import charts_svg, right_of, screen_svg
from viz.components.chart.chart import SOURCE
from viz.svg import FONT
from viz.token_text import ems

SVG = "{http://www.w3.org/2000/svg}"
MARKUP = '</text><script>alert(1)</script>" onload="alert(1)'
SUFFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def lines(**options: Any) -> Lines:
    series = [
        Line("one", [1, 2, 5, 40], [3.0, 80.0, 2500.0, 1.2e6], points=True),
        Line("two", [1, 8, 20], [40.0, math.nan, 7.0], dash="dash"),
        Line("three", [2, 30], [9.0, 9.0], quiet=True),
    ]
    return Lines(**({"series": series, "x_title": "step", "y_title": "cost"} | options))


BARS = Bars(labels=["a", "b", "c"], values=[3.0, None, 1.5], words=["three", "none", "half"], colors=[0, 0, 3])


def parsed(*charts: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(charts_svg(charts, title="T", caption="C"))


def number(words: str) -> float:
    scale = SUFFIXES.get(words[-1], 1)
    return float(words.rstrip("".join(SUFFIXES)).replace("\u2212", "-")) * scale


def reader(root: ElementTree.Element, side: str, place: str, *, log: bool):
    """What turns a coordinate back into a value: by the first and the last tick of the axis."""
    (axis,) = (one for one in root.iter(f"{SVG}g") if one.get("class") == f"quiet {side}-ticks")
    ticks = [(float(one.get(place) or "nan"), number("".join(one.itertext()))) for one in axis]
    (a, low), (b, high) = ticks[0], ticks[-1]
    if log:
        return lambda at: 10 ** (math.log10(low) + (at - a) / (b - a) * math.log10(high / low))
    return lambda at: low + (at - a) / (b - a) * (high - low)


def points(root: ElementTree.Element, kind: str, color: int) -> list[tuple[float, float]]:
    paths = [one.get("d") or "" for one in root.iter(f"{SVG}path") if one.get("class") == f"{kind} s{color}"]
    return [
        (float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", paths[-1])
    ]  # after the sample beside its name


@pytest.mark.parametrize("log_x", [False, True])
@pytest.mark.parametrize("log_y", [False, True])
def test_every_point_of_every_line_is_its_number(log_x, log_y):
    chart = lines(log_x=log_x, log_y=log_y, x_range=(1, 50), ticks=(1, 10, 50))
    root = parsed(chart)
    x_of, y_of = reader(root, "x", "x", log=log_x), reader(root, "y", "y", log=log_y)
    for line, color in zip(chart.series, (0, 1, 6), strict=True):
        found = [(x_of(x), y_of(y)) for x, y in points(root, "line", color)]
        wanted = [(x, y) for x, y in zip(line.x, line.y, strict=True) if math.isfinite(y)]
        assert len(found) == len(wanted)
        for (x, y), (wanted_x, wanted_y) in zip(found, wanted, strict=True):
            assert x == pytest.approx(wanted_x, rel=1e-3, abs=2e-3)
            assert y == pytest.approx(wanted_y, rel=1e-3, abs=0 if log_y else 100)  # a hundredth px of a million
    assert len(points(root, "dots", 0)) == 4
    assert [one for one in root.iter(f"{SVG}path") if one.get("class") == "dots s1"] == []


def test_a_line_is_broken_where_a_number_is_still_to_come():
    (path,) = (
        one.get("d") or "" for one in list(parsed(lines()).iter(f"{SVG}path"))[3:] if one.get("class") == "line s1"
    )
    assert (path.count("M"), path.count("L")) == (2, 0)


def test_only_where_the_plot_is_stretched_its_strokes_are_not():
    assert "non-scaling-stroke" not in charts_svg([lines()], title="", caption="")  # a PNG is drawn at twice the size
    assert "non-scaling-stroke" in screen_svg(lines())


def test_bars_are_as_long_as_their_numbers_and_carry_their_words():
    root = parsed(BARS)
    long, short = (one for one in root.iter(f"{SVG}rect") if (one.get("class") or "").startswith("bar"))
    assert float(long.get("width") or 0) == pytest.approx(2 * float(short.get("width") or 0), abs=0.02)
    assert (long.get("class"), short.get("class")) == ("bar s0", "bar s3")
    heights = {"".join(one.itertext()): float(one.get("y") or 0) for one in root.iter(f"{SVG}text")}
    assert heights["a"] == heights["three"] < heights["b"] == heights["none"] < heights["c"] == heights["half"]
    assert heights["a"] == pytest.approx(float(long.get("y") or 0) + float(long.get("height") or 0) / 2, abs=0.02)


def test_a_marker_and_a_level_stand_at_their_values():
    root = parsed(lines(x_range=(0, 50), ticks=(0, 50), log_y=True, marker=(20.0, "W = 20"), level=(1000.0, "int8")))
    upright, across = (one for one in root.iter(f"{SVG}line") if one.get("class") == "s3")
    assert reader(root, "x", "x", log=False)(float(upright.get("x1") or 0)) == pytest.approx(20, rel=1e-3)
    assert reader(root, "y", "y", log=True)(float(across.get("y1") or 0)) == pytest.approx(1000, rel=1e-2)
    assert {"W = 20", "int8"} <= {"".join(one.itertext()) for one in root.iter(f"{SVG}text")}


def test_a_document_has_every_chart_below_the_one_before_with_its_words():
    root = parsed(lines(heading="First", note="measured"), Bars(**{**vars(BARS), "heading": "Second"}))
    heights = {"".join(one.itertext()): float(one.get("y") or 0) for one in root.iter(f"{SVG}text")}
    order = ["T", "First", "step", "Second", "a", "c", "C"]
    assert [heights[words] for words in order] == sorted(heights[words] for words in order)
    assert {"measured", "one", "two", "three", "cost"} <= heights.keys()
    assert heights["C"] < float(root.get("height") or 0)


@pytest.mark.parametrize("draw", [lambda chart: charts_svg([chart], title=MARKUP, caption=MARKUP), screen_svg])
def test_words_cannot_become_markup(draw):
    hostile = lines(x_title=MARKUP, y_title=MARKUP, marker=(3, MARKUP), level=(9, MARKUP), heading=MARKUP, note=MARKUP)
    for chart in (hostile, Bars(labels=[MARKUP], values=[1.0], words=[MARKUP])):
        root = ElementTree.fromstring(draw(chart))
        assert root.find(f".//{SVG}script") is None
        assert not [name for one in root.iter() for name in one.attrib if name.startswith("on")]
        assert MARKUP in {"".join(one.itertext()) for one in root.iter(f"{SVG}text")}


@pytest.mark.parametrize(
    "chart", [lines(series=[]), lines(series=[Line("", [], [])]), Bars(labels=[], values=[], words=[])]
)
def test_nothing_yet_is_an_empty_chart(chart):
    for svg in (charts_svg([chart], title="", caption=""), screen_svg(chart)):
        assert not [one for one in ElementTree.fromstring(svg).iter(f"{SVG}path") if one.get("d") == ""]


def test_words_below_a_narrow_plot_do_not_meet():
    powers = [2**n for n in range(12)]
    chart = lines(log_x=True, x_range=(1, 2048), ticks=powers)
    shown, every = (
        len(next(one for one in ElementTree.fromstring(svg).iter(f"{SVG}g") if one.get("class") == "quiet x-ticks"))
        for svg in (screen_svg(chart), charts_svg([chart], title="", caption=""))
    )
    assert shown < every == 12


def test_the_screens_colours_are_the_pages():
    theme = loads((Path(__file__).parents[2] / ".streamlit/config.toml").read_text(encoding="utf-8"))["theme"]
    for scheme, before in (("light", r"\.chart"), ("dark", r'\.chart\[data-theme="dark"\]')):
        found = re.findall(rf"^{before} \.s([0-5]) {{\n  color: (#\w+);", SOURCE.css, re.MULTILINE)
        assert found == [(str(n), color.lower()) for n, color in enumerate(theme[scheme]["chartCategoricalColors"])]


def test_on_the_screen_the_longest_bar_ends_where_its_words_begin_however_narrow_the_phone():
    chart = Bars(
        labels=["was", "had"],
        values=[0.5, 0.125],
        words=["59.2% · 0.8 bits", "so many words that these need more room"],
    )
    widths = re.findall(r'<rect [^>]*width="([0-9.]+)%"', screen_svg(chart))
    assert [float(width) for width in widths] == [100, 25]
    longest, longer = (ems(words) * FONT for words in chart.words)
    assert right_of(chart) >= longest + 6
    assert right_of(chart) >= longer + 6 - 0.75 * 120  # pixels of a plot beside which there is no room for more
    few = Bars(labels=["was"], values=[None], words=["0"])
    assert right_of(few) == 12
