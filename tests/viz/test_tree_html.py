"""The small trees: every leaf hangs on the root, and the thick way leads from it to the chosen leaf."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

import pytest

from viz.tree_html import adaptive_tree_html, tree_html

NS = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]


def drawn(html: str) -> ElementTree.Element:
    """The picture inside."""
    return ElementTree.fromstring(base64.b64decode(re.findall(r"base64,([^']+)'", html)[0]))


def lines_of(svg: ElementTree.Element, *, thick: bool) -> set[tuple[Point, Point]]:
    """From the upper end to the lower one."""
    found: set[tuple[Point, Point]] = set()
    for line in svg.iter(f"{NS}line"):
        x1, y1, x2, y2 = (float(line.get(name, "")) for name in ("x1", "y1", "x2", "y2"))
        if (float(line.get("stroke-width", "")) > 2) == thick:
            found.add(((x1, y1), (x2, y2)))
    return found


def way(svg: ElementTree.Element) -> list[Point]:
    """The places that the thick lines lead through, from the root on."""
    below = dict(lines_of(svg, thick=True))
    (place,) = set(below) - set(below.values())
    found = [place]
    while place in below:
        place = below[place]
        found.append(place)
    return found


def places(svg: ElementTree.Element, *, large: bool | None = None) -> list[Point]:
    """Of the nodes; ``large`` ones are on the way."""
    return [
        (float(one.get("cx", "")), float(one.get("cy", "")))
        for one in svg.iter(f"{NS}circle")
        if large is None or (float(one.get("r", "")) > 5) == large
    ]


@pytest.mark.parametrize("leaves, chosen", [(2, 0), (8, 5), (8, 7), (16, 3)])
def test_a_balanced_tree_has_its_leaves_and_a_decision_a_level(leaves: int, chosen: int) -> None:
    svg = drawn(tree_html(leaves, chosen, "said"))
    assert len(places(svg)) == 2 * leaves - 1
    assert len(lines_of(svg, thick=True) | lines_of(svg, thick=False)) == 2 * leaves - 2
    lowest = max(y for _, y in places(svg))
    at_the_end = sorted(place for place in places(svg) if place[1] == lowest)
    led = way(svg)
    assert (len(at_the_end), len(led) - 1) == (leaves, leaves.bit_length() - 1)
    assert led[-1] == at_the_end[chosen]
    assert sorted(led) == sorted(places(svg, large=True))


@pytest.mark.parametrize("chosen, decisions", [(0, 1), (1, 2), (2, 2)])
def test_frequent_tokens_hang_on_the_root_and_the_rare_ones_on_their_cluster(chosen: int, decisions: int) -> None:
    groups = [["2,000", "d = 64"], ["8,000", "d = 16"], ["40,257", "d = 4"]]
    svg = drawn(adaptive_tree_html(groups, chosen, "said"))
    led, every = way(svg), lines_of(svg, thick=True) | lines_of(svg, thick=False)
    root = led[0]
    below = [end for start, end in every if start == root]
    assert len(led) - 1 == decisions
    assert len(below) == 4 + 2  # the first group's leaves, and a node for each cluster
    clusters = {start for start, _ in every} - {root}
    assert clusters <= set(below)
    assert sorted(len([1 for start, _ in every if start == one]) for one in clusters) == [4, 4]
    third = 320 / 3
    assert third * chosen < led[-1][0] < third * (chosen + 1)
    assert sorted(led) == sorted(places(svg, large=True))
    words = [one.text for one in svg.iter(f"{NS}text")]
    assert words == [word for group in groups for word in group]


def test_words_are_escaped_and_stand_for_the_picture() -> None:
    for html in (tree_html(4, 1, "a <b> & 'c'"), adaptive_tree_html([["<i>"]], 0, "a <b> & 'c'")):
        assert "<b>" not in html
        assert html.count("a &lt;b&gt; &amp;") == 2
    assert [one.text for one in drawn(adaptive_tree_html([["<i>"]], 0, "")).iter(f"{NS}text")] == ["<i>"]
