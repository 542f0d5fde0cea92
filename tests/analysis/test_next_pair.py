"""Two predictions side by side: against loops over the vocabulary."""

from __future__ import annotations

import math

import pytest
import torch

from analysis.comparison import next_token_change
from analysis.next_pair import next_pair
from model_runner import Capture
from tests.analysis.made import causal_noise, made_capture

FIRST = torch.tensor([2.0, 0.0, 1.0, -1.0, 0.5, -3.0, 0.0, 0.25])
SECOND = torch.tensor([-1.0, 3.0, 1.0, 0.0, 0.5, 2.0, -2.0, 0.0])
WORDS = list("abcdefgh")
OTHER = ["c", "b", "x", "a", "b", "y", "⟨6⟩", "d"]  # "b" is drawn twice


def made(logits: torch.Tensor) -> Capture:
    return made_capture(causal_noise(3), logits=logits)


def shares(logits: torch.Tensor) -> list[float]:
    total = math.fsum(math.exp(one) for one in logits.tolist())
    return [math.exp(one) / total for one in logits.tolist()]


def pair(first=FIRST, second=SECOND, words=WORDS, other=WORDS, count=3):
    return next_pair((made(first), made(second)), (-1, 2), (words, other), count=count)


def test_one_vocabulary_is_compared_by_token_with_its_kl():
    found, one, two = pair(), shares(FIRST), shares(SECOND)
    assert found.labels == ("a", "c", "e", "b", "f")  # the first three of either
    assert found.first == pytest.approx([one[WORDS.index(text)] for text in found.labels])
    assert found.second == pytest.approx([two[WORDS.index(text)] for text in found.labels])
    assert found.kl == pytest.approx(math.fsum(p * math.log2(p / q) for p, q in zip(one, two, strict=True)))
    assert found.kl == pytest.approx(next_token_change(made(FIRST), made(SECOND)).kl)
    assert pair(FIRST, FIRST).kl == 0


def test_two_vocabularies_are_compared_by_what_is_drawn_and_have_no_kl():
    found, one, two = pair(other=OTHER), shares(FIRST), shares(SECOND)
    assert found.kl is None
    assert found.labels == ("a", "c", "e", "b", "y", "x")
    assert found.first == pytest.approx([one[0], one[2], one[4], one[1], None, None])
    expected = [two[3], two[0], None, two[1] + two[4], two[5], two[2]]
    assert found.second == pytest.approx(expected)


def test_a_padded_vocabulary_names_what_no_token_has():
    found = pair(words=WORDS[:5], other=WORDS[:5], count=8)
    assert set(found.labels) == {*WORDS[:5], "⟨5⟩", "⟨6⟩", "⟨7⟩"}
    assert math.fsum(found.second) == pytest.approx(1)


def test_an_impossible_token_is_no_nan():
    first = FIRST.clone()
    first[3] = -torch.inf
    assert pair(first).kl == pytest.approx(
        math.fsum(p * math.log2(p / q) for p, q in zip(shares(first), shares(SECOND), strict=True) if p)
    )


def test_a_token_more_is_another_vocabulary():
    longer = torch.cat([SECOND, torch.zeros(1)])
    assert pair(second=longer, other=[*WORDS, "i"]).kl is None
