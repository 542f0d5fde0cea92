"""Words that the embedded translator never read are distinguished from those of its training sentences."""

from __future__ import annotations

from random import Random

import pytest
from transformers import AutoTokenizer

from analysis.cut_words import cut_words
from analysis.examples import EXAMPLES, OF_MODEL
from model_runner.local.loading.model_folder import EMBEDDED
from scripts.corpus.parallel.sentences import sentence
from tests.analysis.made import text_capture

TOKENIZER = AutoTokenizer.from_pretrained(EMBEDDED["translator"])


def unread(text: str) -> tuple[str, ...]:
    return cut_words(text_capture(text, TOKENIZER))


def test_no_word_of_its_own_sentences_is_cut():
    rng = Random(7)
    pairs = [sentence(rng) for _ in range(100)]
    texts = [text for pair in pairs for text in (pair.english_text, pair.chinese_text)]
    texts += [example.text for example in OF_MODEL["translator"]]
    assert [unread(text) for text in texts] == [()] * len(texts)


@pytest.mark.parametrize("text, words", [
    ("猫看见了狗，它", ("它",)),
    ("The dog chased the squirrel because it", ("it",)),
    ("The Shawshank", ("Shawshank",)),
    ("因为火车", ("火", "车")),
])  # fmt: skip  # a case a line
def test_words_that_it_never_read_are_named_once_and_in_order(text, words):
    assert unread(f"{text}。" if not text.isascii() else text) == words


def test_every_example_of_the_default_model_has_one():
    assert [example.text for example in EXAMPLES if not unread(example.text)] == []
