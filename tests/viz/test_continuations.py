"""Two continuations as a table: nothing of a token becomes markup, and the difference is marked once in each."""

from __future__ import annotations

import re

from viz.continuations import TextEnding, continuations

ONE, TWO = ["·was", "·hungry", "."], ["·was", "·too", "·<b>"]


def table(differs_at: int | None) -> str:
    return continuations(
        [TextEnding("one", "1.5 s", ONE), TextEnding("two", "", TWO)], differs_at=differs_at, heading="H", beside="B"
    )


def rows(html: str) -> list[str]:
    return re.findall(r"<td><div[^>]*>(.*?)</div></td>", html)


def test_equal_texts_have_no_mark():
    assert rows(continuations([TextEnding("a", "", ONE), TextEnding("b", "", ONE)], differs_at=None, heading="")) == [
        " was hungry.",
        " was hungry.",
    ]


def test_the_first_token_that_differs_is_marked_in_both_and_the_rest_stands_back():
    first, second = rows(table(1))
    assert first == ' was<mark> hungry</mark><span class="past">.</span>'
    assert second == ' was<mark> too</mark><span class="past"> &lt;b&gt;</span>'


def test_a_shorter_text_that_ends_where_the_other_goes_on_has_nothing_to_mark():
    first, second = rows(
        continuations([TextEnding("a", "", ONE), TextEnding("b", "", ONE[:2])], differs_at=2, heading="")
    )
    assert "<mark>.</mark>" in first
    assert "<mark>" not in second


def test_names_notes_and_headings_are_there_and_escaped():
    html = continuations([TextEnding("<x>", "<y>", [])], differs_at=None, heading="<h>", beside="<b>")
    assert all(f"&lt;{name}&gt;" in html for name in "xyhb")
    assert all(
        f"<{name}>" not in re.sub(r"<style>.*?</style>|<b>&lt;x&gt;</b>", "", html, flags=re.S) for name in "xyh"
    )
