"""Pairs of bars: as long as their numbers, named for readers, and every string escaped."""

from __future__ import annotations

import re

from viz.paired_bars import Pair, paired_bars

HEADINGS = ("metric", "A", "B", "A − B")


def html(*pairs: Pair) -> str:
    return paired_bars(pairs, headings=HEADINGS, label="both")


def test_bars_are_as_long_as_their_shares_and_cut_at_the_track():
    found = html(Pair("a", 0.25, 1.0, ("25 %", "100 %"), "−75 %"), Pair("b", -0.5, 3.0, ("x", "y"), ""))
    assert re.findall(r"width:([\d.]+)%", found) == ["25.00", "100.00", "0.00", "100.00"]
    assert re.findall(r'class="number">([^<]*)<', found) == ["25 %", "100 %", "x", "y"]
    assert re.findall(r'class="between">([^<]*)<', found) == ["−75 %", ""]


def test_what_is_not_defined_has_words_and_no_bar():
    found = html(Pair("a", None, 0.5, ("–", "50 %"), "–"))
    assert found.count('class="bar"') == 1
    assert re.search(r'<td class="first"><div class="track"><span class="number">–', found)


def test_rows_and_columns_have_their_names_and_a_note_stands_under_a_label():
    found = html(Pair("entropy", 0.0, 0.1, ("0", "1"), "", note="how wide"))
    assert re.findall(r'<th scope="col">([^<]*)</th>', found) == list(HEADINGS)
    assert '<th scope="row"><bdi>entropy</bdi><small>how wide</small></th>' in found


def test_every_string_is_escaped():
    evil = "<script>\"'&"
    found = paired_bars([Pair(evil, 0.1, 0.2, (evil, evil), evil, note=evil)], headings=(evil,) * 4, label=evil)
    assert "<script>" not in found
    assert found.count("&lt;script&gt;") == 10
