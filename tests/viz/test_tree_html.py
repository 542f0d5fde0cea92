"""The small trees: every leaf hangs on the root, and the thick way leads from it to the chosen leaf."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

import pytest

from viz.tree_html import DrawnNode, adaptive_tree_html, tree_html

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


NODES = [
    DrawnNode(0.5, 0, None, "", [], on_way=True),
    DrawnNode(0.2, 1, 0, "0.6", ["s0", "0.6"], on_way=False),
    DrawnNode(0.7, 1, 0, "0.4", [], on_way=True),
    DrawnNode(0.6, 2, 2, "0.75", ["s1", "0.3"], on_way=True),
    DrawnNode(0.8, 2, 2, "0.25", ["s2", "0.1"], on_way=False),
]


def test_a_tree_has_its_nodes_and_the_shares_stand_at_the_way_to_the_chosen_leaf() -> None:
    svg = drawn(tree_html(NODES, "said"))
    assert len(places(svg)) == 5
    assert len(lines_of(svg, thick=True) | lines_of(svg, thick=False)) == 4
    led = way(svg)
    assert [x for x, _ in led] == pytest.approx([16 + 288 * across for across in (0.5, 0.7, 0.6)])
    assert sorted(led) == sorted(places(svg, large=True))
    words = [one.text for one in svg.iter(f"{NS}text")]
    assert sorted(filter(None, words)) == sorted(["s0", "0.6", "0.4", "0.75", "s1", "0.3", "s2", "0.1"])


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
    for html in (tree_html(NODES, "a <b> & 'c'"), adaptive_tree_html([["<i>"]], 0, "a <b> & 'c'")):
        assert "<b>" not in html
        assert html.count("a &lt;b&gt; &amp;") == 2
    assert [one.text for one in drawn(adaptive_tree_html([["<i>"]], 0, "")).iter(f"{NS}text")] == ["<i>"]
