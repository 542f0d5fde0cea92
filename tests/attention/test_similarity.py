"""Every measure against a loop over single numbers, and torch's own cosine."""

from __future__ import annotations

import math

import pytest
import torch

from attention.similarity import additive, scaled_dot, split, usual_additive

DRAW = torch.Generator().manual_seed(1)
Q, K = torch.randn(3, 4, generator=DRAW).double(), torch.randn(5, 4, generator=DRAW).double()


def test_lengths_times_cosine_are_the_products():
    found = split(Q, K)
    torch.testing.assert_close(found.q_norms[:, None] * found.k_norms * found.cosines, Q @ K.T)
    torch.testing.assert_close(found.cosines, torch.cosine_similarity(Q[:, None], K[None], dim=-1))


def test_a_vector_without_length_has_cosine_0():
    assert split(torch.zeros(1, 4).double(), K).cosines.tolist() == [[0.0] * 5]


def test_every_cell_is_the_sum_of_its_formula():
    learned = usual_additive(4)
    products, network = scaled_dot(Q, K), additive(Q, K, learned)
    for i in range(3):
        for j in range(5):
            assert float(products[i, j]) == pytest.approx(sum(float(Q[i, t] * K[j, t]) for t in range(4)) / 2)
            total = 0.0
            for c in range(4):
                inside = sum(float(Q[i, t] * learned.w_q[t, c] + K[j, t] * learned.w_k[t, c]) for t in range(4))
                total += float(learned.v[c]) * math.tanh(inside)
            assert float(network[i, j]) == pytest.approx(total)
