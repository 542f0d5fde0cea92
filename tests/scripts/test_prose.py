"""The check of style finds what readers stumbled over, and nothing in what is written now."""

from __future__ import annotations

import pytest

from scripts.prose import FIELD, PATTERNS, blanked, findings, in_documents, in_messages

TRANSLATED = [
    "Of an encoder–decoder its three attentions.",
    "A film is drawn. Of a model that keeps a latent, nothing is lost.",
    "Drawn are the first {count} of {total} tokens.",
    "Listed are {count} neighbouring tokens.",
    "What it writes is not told as the reader's.",
    "An answer is said with the right ones before it.",
    "Who has to wait for others reads how many are before.",
    "What of thousands of tokens?",
    "The table is made anew.",
    "Another rule in the place of softmax.",
    "It stands for his presence.",
]
PLAIN = [
    "Of the {total} keys, the {count} largest are shown.",
    "Of course it can.",
    "Who looks at whom?",
    "Who decides? The teacher.",
    "People who wait see their place.",
    "The tokens are drawn with their weights.",
    "The teacher can be asked.",
    "This history is short.",
]


@pytest.mark.parametrize("text", TRANSLATED)
def test_what_reads_translated_is_found(text):
    assert [where for where, _, _ in findings(text)] == [1]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_english_passes(text):
    assert list(findings(text)) == []


def test_every_pattern_is_needed_for_an_example():
    for one in PATTERNS:
        assert any(one.found.search(text) for text in TRANSLATED), one.instead
    assert [where for where, _, _ in findings("a\nA token then looks back.", FIELD)] == [2, 2]


def test_code_is_left_out_and_lines_stay():
    text = "a\n```\nOf a model\n```\nb `in the place of` c\nOf a model it shows one."
    assert [line for line, _, _ in findings(blanked(text))] == [6]


def test_documents_and_messages_have_none_of_it():
    assert [*in_documents(), *in_messages()] == []
