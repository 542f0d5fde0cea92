"""Two cuts of a text: every token is drawn on its side of its piece, in HTML and in SVG, and escaped."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from viz.aligned_tokens import Match, aligned_svg, aligned_tokens
from viz.plain_page import plain_page

BLOCKS = (Match(("a", "b"), ("ab",)), Match(("·c",), ("·c",)), Match((), ("!",)))


def html(blocks=BLOCKS, names=("A", "B")) -> str:
    return aligned_tokens(blocks, names=names, label="both", texts={})


@pytest.mark.parametrize(
    "block, kind",
    [
        (Match(("a",), ("a",)), "same"), (Match(("a",), ("⟨CLS⟩",)), "same"), (Match(("a", "b"), ("ab",)), "other"),
        (Match(("a", "b"), ("x", "y")), "other"), (Match(("a",), ()), "alone"), (Match((), ("a",)), "alone"),
    ],
)  # fmt: skip
def test_a_piece_is_cut_alike_or_otherwise_or_of_one_side_alone(block, kind):
    assert block.kind == kind


def test_every_token_stands_on_its_side_of_its_piece():
    items = re.findall(r'<li class="(\w+)">(.*?)</li>', html())
    assert [kind for kind, _ in items] == ["other", "same", "alone"]
    for (_, item), block in zip(items, BLOCKS, strict=True):
        sides = re.findall(r'<div class="(?:first|second)"[^>]*>(.*?)</div>', item)
        assert [tuple(re.findall(r"<bdi>(.*?)</bdi>", side)) for side in sides] == [block.first, block.second]
    assert 'aria-label="no token"' in items[2][1]


def test_the_svg_has_every_token_and_breaks_into_lines_within_its_width():
    blocks = tuple(Match((f"token{i}",), (f"to{i}", "ken")) for i in range(60))
    root = ElementTree.fromstring(aligned_svg(blocks, names=("A", "B"), title="t", caption="c"))
    words = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
    drawn = [word.strip("\u2068\u2069") for word in words]
    assert [one for one in drawn if one.startswith("token")] == [f"token{i}" for i in range(60)]
    assert drawn.count("ken") == 60
    boxes = [one.attrib for one in root.iter("{http://www.w3.org/2000/svg}rect") if "rx" in one.attrib]
    assert max(float(box["x"]) + float(box["width"]) for box in boxes) <= float(root.attrib["width"])
    assert len({box["y"] for box in boxes}) == drawn.count("A") + drawn.count("B") > 2


def test_both_sides_of_a_piece_are_equally_wide():
    root = ElementTree.fromstring(aligned_svg(BLOCKS[:1], names=("A", "B"), title="", caption=""))
    rows: dict[str, list[tuple[float, float]]] = {}
    for one in root.iter("{http://www.w3.org/2000/svg}rect"):
        if "rx" in one.attrib:
            x = float(one.attrib["x"])
            rows.setdefault(one.attrib["y"], []).append((x, x + float(one.attrib["width"])))
    first, second = rows.values()
    assert (first[0][0], first[-1][1]) == pytest.approx((second[0][0], second[-1][1]))


def test_every_string_is_escaped_and_the_page_runs_nothing():
    evil = "<script>\"'&\x00"
    block = (Match((evil,), (evil, evil)),)
    ElementTree.fromstring(aligned_svg(block, names=(evil, evil), title=evil, caption=evil))
    page = plain_page(html(block, (evil, evil)), title=evil, caption=f"{evil}\nb", lang="en").decode("utf-8")
    assert "<script>" not in page
    assert "default-src 'none'" in page
    assert "<br>b" in page
