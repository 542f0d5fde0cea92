"""One word in two texts: cosines as loops find them, a causal model's alike until something before it differs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.two_contexts import PAIRS, last_place, place_of, telling_words, word_paths
from tests.pages.expected import capture

FIRST, SECOND, WORDS = "The boy ate a sweet apple", "The phone was made by apple", ("fruit", "company")


def cosine(a: list[float], b: list[float]) -> float:
    size = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(x * x for x in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / size


def test_every_number_is_a_cosine_of_two_vectors_of_the_stream():
    first, second, words = capture(FIRST), capture(SECOND), tuple(map(capture, WORDS))
    found = word_paths(first, second, (-1, len(second.tokens) - 1), words)
    n_tokens = len(first.tokens)
    for row in range(len(first.residuals)):
        own, other = first.residual(row)[-1].tolist(), second.residual(row)[-1].tolist()
        ends = [word.residual(row)[-1].tolist() for word in words]
        assert found.alike[row] == pytest.approx(cosine(own, other), abs=1e-6)
        np.testing.assert_allclose(found.first[row], [cosine(own, end) for end in ends], atol=1e-6)
        np.testing.assert_allclose(found.second[row], [cosine(other, end) for end in ends], atol=1e-6)
    found = word_paths(first, second, (n_tokens - 1, -1), None)
    assert found.first is None
    for row in range(len(first.residuals)):
        stream = first.residual(row).tolist()
        mean = sum(cosine(stream[-1], one) for one in stream[1:-1]) / (n_tokens - 2)  # without ⟨bos⟩
        assert found.others[row] == pytest.approx(mean, abs=1e-6)


def test_a_causal_models_word_is_the_same_until_something_before_it_differs():
    first, second = capture("The dog chased the squirrel"), capture("The dog chased the book")
    same, other = (word_paths(first, second, (place, place), None).alike for place in (3, 5))
    np.testing.assert_allclose(same, 1, atol=1e-6)
    assert (other[1:] < 0.999).all()


@pytest.mark.parametrize("pair", [pair for pairs in PAIRS.values() for pair in pairs], ids=lambda pair: pair.topic)
def test_both_sentences_of_a_pair_end_with_the_same_token_and_it_is_not_one_of_its_words(pair):
    first, second = capture(pair.first), capture(pair.second)
    assert first.tokens[-1].id == second.tokens[-1].id
    assert not {*pair.words} & {pair.first.split()[-1]}
    assert word_paths(first, second, (-1, -1), None).alike[-1] < 0.95


def test_the_word_is_found_at_its_place_or_the_last_time_and_words_that_tell_both_apart_are_the_last():
    tokens = capture("the dog saw the dog and the cat").tokens
    dog = next(one.id for one in tokens if one.text == "·dog")
    assert [place_of(tokens, dog, near) for near in (2, 5, 7)] == [2, 5, 5]
    assert place_of(tokens, 10**6, 2) is None
    other = capture("the dog saw the dog and the squirrel").tokens
    assert telling_words(tokens, other) == ("cat", "squirrel")
    assert telling_words(tokens, tokens) is None


@pytest.mark.parametrize("language", PAIRS)
def test_the_first_pair_in_each_language_is_the_one_whose_word_differs_most(language: str):
    ends: list[float] = []
    for pair in PAIRS[language]:
        first, second = capture(pair.first), capture(pair.second)
        at = last_place(first.tokens)
        place = place_of(second.tokens, first.tokens[at].id, at)
        assert place is not None
        ends.append(float(word_paths(first, second, (at, place), None).alike[-1]))
    assert ends.index(min(ends)) == 0
    assert ends[0] < 0.7
