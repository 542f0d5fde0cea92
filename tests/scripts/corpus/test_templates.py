"""Templates: choices, references, articles and capitals."""

from __future__ import annotations

import random

import pytest

from scripts.corpus.cast import Being
from scripts.corpus.templates import fill, indefinite, tidy

CAST = {"A": Being("Mia", "she"), "P": Being("Rex", "he", "dog", "old"), "O": "red ball"}


def test_references_become_names_pronouns_and_descriptions() -> None:
    text = fill("<A> lost <A.his> <O>. <P>, the <P.adj> <P.kind>, brought it to <A.him>.", CAST, random.Random(0))
    assert text == "Mia lost her red ball. Rex, the old dog, brought it to her."


def test_choices_are_drawn_from_the_inside_out() -> None:
    seen = {fill("[one|two [three|four]]", CAST, random.Random(seed)) for seed in range(50)}
    assert seen == {"one", "two three", "two four"}


@pytest.mark.parametrize(
    "written, read",
    [
        ("a apple", "an apple"),
        ("A owl and a uniform", "An owl and a uniform"),
        ("a one day trip", "a one day trip"),
        ("banana apple", "banana apple"),
    ],
)
def test_an_stands_before_a_vowel_that_is_heard(written: str, read: str) -> None:
    assert indefinite(written) == read


def test_sentences_start_with_a_capital_and_have_single_spaces() -> None:
    assert tidy(" the dog  ran. he was a old dog. \nso it was ") == "The dog ran. He was an old dog.\nSo it was"
