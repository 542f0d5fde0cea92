"""How spread a distribution is and how far two are apart, against sums written out."""

from __future__ import annotations

import math

import pytest
import torch

from attention.distributions import entropy, kl

ONE, OTHER = [0.5, 0.25, 0.25, 0.0], [0.1, 0.2, 0.3, 0.4]


def test_entropy_is_in_bits_and_what_has_no_share_adds_nothing() -> None:
    rows = torch.tensor([ONE, [0.25] * 4, [0.0, 1.0, 0.0, 0.0]], dtype=torch.float64)
    assert entropy(rows).tolist() == pytest.approx([1.5, 2.0, 0.0])


def test_kl_is_in_bits_the_sum_over_what_was_possible_before_in_each_row() -> None:
    before, after = (torch.tensor([row, [0.25] * 4], dtype=torch.float64).log() for row in (ONE, OTHER))
    slow = math.fsum(p * math.log2(p / q) for p, q in zip(ONE, OTHER) if p > 0)
    assert kl(before, after).tolist() == pytest.approx([slow, 0.0])
    assert kl(after, before).tolist() == [math.inf, 0.0]  # what is impossible afterwards
