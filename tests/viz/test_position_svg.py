"""Figures on positions as SVG: well-formed, escaped, and with every number where it belongs."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from viz.position_svg import dials_svg, panels_svg

SVG = "{http://www.w3.org/2000/svg}"
MARKUP = "</text><script>alert(1)</script>"


def dials(n_pairs=8, **changes):
    rng = np.random.default_rng(0)
    values = {
        "q": rng.normal(size=(n_pairs, 2)), "k": rng.normal(size=(n_pairs, 2)),
        "angles": 3 * 100.0 ** (-np.arange(n_pairs) / n_pairs), "theta": 100.0 ** (-np.arange(n_pairs) / n_pairs),
    } | changes  # fmt: skip
    return values, dials_svg(**values, title="L3H2", caption=MARKUP)


@pytest.mark.parametrize("n_pairs", [1, 8, 64])
def test_every_pair_has_a_dial_and_four_arrows(n_pairs):
    root = ElementTree.fromstring(dials(n_pairs)[1])
    assert len(root.findall(f"{SVG}circle")) == n_pairs
    assert len(root.findall(f"{SVG}g")) == 4 * n_pairs


def test_the_turned_arrow_points_where_the_angle_says():
    values, svg = dials(1)
    arrows = re.findall(r'd="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"[^>]*stroke-width="2.2"', svg)
    for (x, y, to_x, to_y), name in zip(arrows, ("k", "q"), strict=True):
        direction = math.atan2(-(float(to_y) - float(y)), float(to_x) - float(x))
        wanted = math.atan2(values[name][0, 1], values[name][0, 0]) + values["angles"][0]
        assert math.cos(direction - wanted) == pytest.approx(1, abs=1e-4)


def test_a_vector_of_zeros_is_drawn_without_complaint():
    ElementTree.fromstring(dials(2, q=np.zeros((2, 2)))[1])


def test_panels_draw_every_line_over_its_points():
    panels = [np.array([[0.0, 1.0, 4.0]]), np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])]
    root = ElementTree.fromstring(panels_svg([MARKUP, "b"], panels, title="t", caption="c", shared=False))
    lines = [line.get("points", "").split() for line in root.findall(f"{SVG}polyline")]
    assert [len(line) for line in lines] == [3, 3, 3]
    heights = [float(point.split(",")[1]) for point in lines[0]]
    assert heights[0] > heights[1] > heights[2]
    assert (heights[0] - heights[1]) * 4 == pytest.approx(heights[0] - heights[2], abs=0.3)


@pytest.mark.parametrize(
    "make", [lambda: dials()[1], lambda: panels_svg([MARKUP], [np.ones((1, 2))], title="", caption="")]
)
def test_words_cannot_become_markup(make):
    root = ElementTree.fromstring(make())
    assert root.find(f".//{SVG}script") is None
