"""Text for places that read Markdown: read there it is itself again, and no more is escaped than that takes."""

from __future__ import annotations

import html
import random
import string

import pytest
from markdown_it import MarkdownIt

from viz.markdown import plain

READ = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def read(text: str) -> str:
    """What a reader of Markdown makes of a line, its marks as HTML."""
    rendered = READ.render(text).strip()
    assert rendered.startswith("<p>"), rendered
    assert rendered.endswith("</p>")
    return html.unescape(rendered.removeprefix("<p>").removesuffix("</p>"))


@pytest.mark.parametrize("seed", range(40))
def test_marks_in_any_order_are_read_as_themselves(seed):
    rng = random.Random(seed)
    for _ in range(200):
        text = "".join(rng.choice(string.punctuation * 2 + "a1 ·北\t ") for _ in range(rng.randrange(1, 25))).strip()
        if text:
            assert read(plain(text)) == text


@pytest.mark.parametrize(
    "start", ["# a", "- a", "+ a", "= a", "1. a", "12) a", "> a", "---", "===", "~~~", "| a |", "1."]
)
def test_what_begins_a_block_stands_for_itself(start):
    assert read(plain(start)) == start
    assert READ.render(f"one\n{plain(start)}").count("<p>") == 1


@pytest.mark.parametrize(
    "text", [":red[a]", ":smile:", "::a", "$x$", "www.a.org", "http://a.org", "a@b.org", ":material/x:"]
)
def test_what_only_github_and_streamlit_read_is_escaped(text):
    assert any(f"\\{mark}" in plain(text) for mark in ":$.")


@pytest.mark.parametrize(
    "text",
    ["The dog, 北京 and ·it", "unit 0.01", "z1 · σ = 3.9", "e^(−rate ÷ 100)", "L6H4: 99.9 %", "a - b + c! #1 {x}"],
)
def test_what_a_label_says_is_not_changed(text):
    """It is read aloud as it is written: with its escapes."""
    assert plain(text) == text
