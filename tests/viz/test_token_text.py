"""Labels: characters that a file cannot contain are replaced, and wide labels are cut."""

from __future__ import annotations

import xml.dom.minidom

import pytest

from viz.token_text import ems, escaped, lone_spaces, printable, shortened, stacked, stance, wrapped


@pytest.mark.parametrize("text", ["·dog", "注意力", "שלום", "👩‍👩‍👧", "⏎", "a\tb\nc", ""])
def test_what_xml_and_utf8_can_carry_stays_as_it_is(text):
    assert printable(text) == text


@pytest.mark.parametrize("code", [0x00, 0x08, 0x1B, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF])
def test_a_character_that_no_file_can_carry_becomes_the_replacement_character(code):
    assert printable(f"a{chr(code)}b") == "a\ufffdb"


def test_escaped_text_is_the_same_text_to_an_xml_reader():
    text = "</text><script>alert('\"')</script>&amp;\x00\ud800"
    document = xml.dom.minidom.parseString(f'<a b="{escaped(text)}">{escaped(text)}</a>'.encode())
    root = document.documentElement
    assert root is not None
    assert root.getAttribute("b") == printable(text)
    assert root.firstChild is not None
    assert root.firstChild.nodeValue == printable(text)


def test_wide_characters_count_one_em_and_marks_none():
    assert ems("注意") == 2
    assert ems("e\u0301") == ems("e")
    assert ems("a\u200d") == ems("a")


def test_a_label_that_fits_is_not_shortened():
    assert shortened("注意力", 3) == "注意力"


@pytest.mark.parametrize("text", ["a" * 60, "注" * 60, "a注" * 30])
def test_a_shortened_label_fits_and_keeps_as_much_as_it_can(text):
    short = shortened(text, 8)
    assert short.endswith("…")
    kept = short.removesuffix("…")
    assert text.startswith(kept)
    assert ems(kept) + 1 <= 8 < ems(text[: len(kept) + 1]) + 1


@pytest.mark.parametrize(
    "text, lines",
    [("有残差，post-norm", ["有残差，", "post-norm"]), ("一二三四五六七八九，十", ["一二三四五六七八", "九，十"])],
)
def test_chinese_breaks_between_characters_and_neither_in_a_word_nor_before_a_comma(text, lines):
    assert wrapped(text, 9) == lines


def test_wrapped_lines_fit_and_lose_nothing_but_the_spaces_they_break_at():
    text = "model · L3H7 · weights after softmax " + "x" * 40 + " 每一行是一个查询每一列是一个键"
    lines = wrapped(text, 12)
    assert all(ems(line) <= 12 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert lines[0] == "model · L3H7 · weights"[: len(lines[0])]


def test_words_are_not_cut_when_they_fit_on_a_line():
    assert wrapped("weights after softmax", 8) == ["weights after", "softmax"]


@pytest.mark.parametrize(
    "label, shown", [("·", "␣"), ("··", "␣␣"), ("·it", "·it"), ("it", "it"), ("", ""), ("a·b", "a·b")]
)
def test_a_token_of_nothing_but_spaces_is_no_dot(label, shown):
    assert lone_spaces(label) == shown


def test_an_empty_text_has_no_lines():
    assert wrapped("  ", 10) == []


def test_a_label_is_turned_only_where_it_is_wider_than_its_column_and_chinese_never():
    labels = {"·it": 3, "·squirrel": 3, "它": 0.5, "·松鼠": 1.5, "松鼠": 3, "松鼠a": 1.5}
    found = [stance(label, room) for label, room in labels.items()]
    assert found == ["upright", "turned", "upright", "stacked", "upright", "turned"]
    assert (stacked("·松鼠", 4), stacked("小松鼠想玩", 4)) == (["松", "鼠"], ["小", "松", "鼠", "…"])
