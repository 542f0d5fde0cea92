"""Two texts token under token: every token is text, differing ones are marked, a longer text ends alone."""

from __future__ import annotations

import re

import pytest

from viz.text_pair import text_pair


def rows(html):
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]


def pair(first, second, differ, shown=None):
    return text_pair(
        first, second, headings=("one", "two"), differ=differ, shown=shown or [True] * len(differ), label="b"
    )


def test_tokens_stand_under_one_another_and_differing_ones_are_marked():
    assert rows(pair(["a", "b"], ["a", "c"], [False, True])) == [
        ["<bdi>a</bdi>", "<mark><bdi>b</bdi></mark>"],
        ["<bdi>a</bdi>", "<mark><bdi>c</bdi></mark>"],
    ]


def test_the_longer_text_ends_alone():
    assert rows(pair(["a"], ["a", "b"], [False, True])) == [
        ["<bdi>a</bdi>", ""],
        ["<bdi>a</bdi>", "<mark><bdi>b</bdi></mark>"],
    ]


def test_columns_left_out_are_dots_once_a_gap():
    found = rows(pair(list("abcdef"), list("abXdef"), [False, False, True, False, False, False], [0, 0, 1, 1, 0, 0]))
    assert [re.sub("<.*?>", "", cell) for cell in found[1]] == ["…", "X", "d", "…"]


def test_a_token_is_text():
    html = text_pair(["<b>"], ["&"], headings=("<i>", "'"), differ=[True], shown=[True], label='"')
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;b&gt;" in html
    assert 'aria-label="&quot;"' in html


def test_marks_are_one_a_column():
    with pytest.raises(ValueError, match="1 marks, 1 of them shown, for 2 columns"):
        pair(["a", "b"], ["a", "b"], [False])
