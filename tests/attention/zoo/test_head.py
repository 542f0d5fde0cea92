"""The head passed to a variant: which tokens may attend to which, and a long text's head against one kept whole."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from attention.zoo.long_head import BASE, LongHead
from tests.attention.zoo.made import made, windowed


@pytest.mark.parametrize(
    "head, ahead",
    [(made(), False), (made(1), False), (windowed(made(), 1), False), (made(causal=False), True)],
    ids=["back", "one token", "itself alone", "around"],
)
def test_looking_ahead_is_at_a_key_after_the_query(head, ahead):
    assert head.looks_ahead == ahead


def test_one_key_after_its_query_is_enough():
    keep = made(6).keep.clone()
    keep[2, 3] = True
    assert replace(made(6), keep=keep).looks_ahead


def test_a_head_looks_elsewhere_when_none_that_looks_sees_itself():
    head, keep = made(6), torch.zeros(6, 6, dtype=torch.bool)
    keep[4:, :2] = True
    assert replace(head, keep=keep).elsewhere
    keep[5, 5] = True
    assert not replace(head, keep=keep).elsewhere
    assert not head.elsewhere
    assert not replace(head, keep=torch.zeros_like(keep)).elsewhere  # where nobody looks


def test_a_long_texts_keys_are_turned_by_the_rotation_that_is_assumed():
    q, k, v = (torch.randn(5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(i)) for i in range(3))
    places = torch.tensor([0, 3, 100, 7, 4096])
    turn_at = LongHead(q, k, v, causal=True).layer.turn_at
    assert turn_at is not None
    turned = turn_at(k, places)
    for place, before, after in zip(places.tolist(), k.tolist(), turned.tolist(), strict=True):
        for i in range(3):  # of the pairs (i, i + 3); the seventh number has no partner and stays
            angle, a, b = place * BASE ** (-i / 3), before[i], before[i + 3]
            cos, sin = math.cos(angle), math.sin(angle)
            assert after[i] == pytest.approx(a * cos - b * sin, abs=1e-9)
            assert after[i + 3] == pytest.approx(a * sin + b * cos, abs=1e-9)
        assert after[6] == before[6]
