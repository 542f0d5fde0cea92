"""How a text goes through parts beside and behind each other."""

from __future__ import annotations

import re

from viz.flow import flow


def said(html: str) -> str:
    return re.sub(r"<[^>]+>", "", re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL))


def test_lanes_stand_between_what_comes_first_and_last():
    html = flow("text", (("a", "b"), ("c",)), "gate", "output")
    assert said(html) == "text" + "↓a↓b↓" + "↓c↓" + "gate↓output"  # into each lane and out of it
    assert html.count("<ol>") == 2
    assert html.count('class="part"') == 6


def test_one_lane_is_joined_by_nothing():
    assert said(flow("text", (("a",),), "", "output")) == "text↓a↓output"


def test_words_are_no_markup():
    assert "<b>" not in flow("<b>", (("<b>",),), "<b>", "<b>")
