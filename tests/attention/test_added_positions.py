"""Added positions: the four products sum to the score, and attention without positions ignores order."""

from __future__ import annotations

import math

import torch

from attention.added_positions import attend_to_all, four_terms, moved_outputs
from attention.position_biases import sinusoidal

SEED = torch.Generator().manual_seed(3)
X, P = (torch.randn(5, 12, generator=SEED, dtype=torch.float64) for _ in range(2))
W_Q, W_K, W_V = (torch.randn(12, 4, generator=SEED, dtype=torch.float64) for _ in range(3))
ORDER = torch.tensor([3, 0, 4, 1, 2])


def test_the_four_maps_add_up_to_the_score_and_each_is_its_own_sum_of_products():
    terms = four_terms(X, P, W_Q, W_K, scale=0.5)
    parts = {"content": X, "position": P}
    for i in range(5):
        for j in range(5):
            whole = 0.5 * math.fsum(
                float((X + P)[i, a] * W_Q[a, h] * W_K[b, h] * (X + P)[j, b])
                for a in range(12)
                for b in range(12)
                for h in range(4)
            )
            assert math.isclose(float(terms.total[i, j]), whole, abs_tol=1e-10)
            for one, left in parts.items():
                for other, right in parts.items():
                    wanted = 0.5 * float((left[i] @ W_Q) @ (right[j] @ W_K))
                    assert math.isclose(float(getattr(terms, f"{one}_{other}")[i, j]), wanted, abs_tol=1e-10)


def test_without_positions_another_order_gives_the_same_outputs_in_that_order_and_with_them_it_does_not():
    before, after = (attend_to_all(x, W_Q, W_K, W_V) for x in (X, X[ORDER]))
    for place, token in enumerate(ORDER.tolist()):
        torch.testing.assert_close(after.output[place], before.output[token])
        torch.testing.assert_close(after.weights[place], before.weights[token][ORDER])
    assert float(moved_outputs(before, after, ORDER).max()) < 1e-12
    p = sinusoidal(torch.arange(5), 12)
    moved = moved_outputs(attend_to_all(X + p, W_Q, W_K, W_V), attend_to_all(X[ORDER] + p, W_Q, W_K, W_V), ORDER)
    assert float(moved.min()) > 0.01


def test_positions_that_stay_with_their_tokens_are_no_positions():
    """Only where p stays at its place does the order matter: carried along, it is content."""
    before, after = (attend_to_all(x, W_Q, W_K, W_V) for x in (X + P, (X + P)[ORDER]))
    assert float(moved_outputs(before, after, ORDER).max()) < 1e-12
