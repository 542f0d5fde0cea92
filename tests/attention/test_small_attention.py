"""Every step of the small attention equals torch's own function, and loops over single numbers."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attention.small_attention import LARGEST, ExampleNumbers, small_attention, usual_numbers

CASES = [(n, d, h) for n in (1, 4, 6) for d in (3, 4, 8) for h in (1, 2, 4) if d % h == 0]


def noise(n_tokens: int, d: int) -> ExampleNumbers:
    draw = torch.Generator().manual_seed(n_tokens * d)
    tables = [torch.randn(rows, d, generator=draw).double() for rows in (n_tokens, d, d, d, d)]
    return ExampleNumbers(*tables)


@pytest.mark.parametrize("causal, scaled", [(a, b) for a in (True, False) for b in (True, False)])
@pytest.mark.parametrize("n_tokens, d, n_heads", CASES)
def test_the_output_is_that_of_torchs_own_attention(n_tokens, d, n_heads, causal, scaled):
    numbers = noise(n_tokens, d)
    found = small_attention(numbers, n_heads=n_heads, causal=causal, scaled=scaled)
    scale = None if scaled else 1.0
    expected = scaled_dot_product_attention(found.q, found.k, found.v, is_causal=causal, scale=scale)
    torch.testing.assert_close(found.output, expected, rtol=0, atol=1e-6)
    whole = torch.nn.functional.linear(expected.transpose(0, 1).flatten(1), numbers.w_o.T)
    torch.testing.assert_close(found.added, whole, rtol=0, atol=1e-6)


@pytest.mark.parametrize("n_heads, n_kv_heads", [(4, 4), (4, 2), (4, 1), (2, 1)])
def test_shared_keys_and_values_are_those_of_torchs_own_grouped_attention(n_heads, n_kv_heads):
    numbers = noise(5, 8)
    found = small_attention(numbers, n_heads=n_heads, n_kv_heads=n_kv_heads)
    head = 8 // n_heads
    k, v = (
        (numbers.x @ w)[:, : n_kv_heads * head].reshape(5, n_kv_heads, head).transpose(0, 1)
        for w in (numbers.w_k, numbers.w_v)
    )
    wanted = scaled_dot_product_attention(found.q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]
    torch.testing.assert_close(found.output, wanted, rtol=0, atol=1e-6)
    for h in range(n_heads):
        assert torch.equal(found.k[h], k[h * n_kv_heads // n_heads])
    with pytest.raises(ValueError, match="4 heads, 3"):
        small_attention(numbers, n_heads=4, n_kv_heads=3)


def test_every_number_is_the_sum_that_a_book_writes():
    numbers = noise(3, 4)
    found = small_attention(numbers, n_heads=2)
    for h, i, j in itertools.product(range(2), range(3), range(3)):
        q = [sum(float(numbers.x[i, t] * numbers.w_q[t, 2 * h + c]) for t in range(4)) for c in range(2)]
        k = [sum(float(numbers.x[j, t] * numbers.w_k[t, 2 * h + c]) for t in range(4)) for c in range(2)]
        score = q[0] * k[0] + q[1] * k[1]
        assert float(found.scores[h, i, j]) == pytest.approx(score)
        assert float(found.scaled[h, i, j]) == pytest.approx(score / math.sqrt(2))
        assert float(found.masked[h, i, j]) == (pytest.approx(score / math.sqrt(2)) if j <= i else -math.inf)
        powers = [math.exp(float(one)) for one in found.scaled[h, i, : i + 1]]
        assert float(found.weights[h, i, j]) == pytest.approx(powers[j] / sum(powers) if j <= i else 0.0)
        for c in range(2):
            mixed = sum(float(found.weights[h, i, t] * found.v[h, t, c]) for t in range(3))
            assert float(found.concat[i, 2 * h + c]) == pytest.approx(mixed)


def test_scores_of_a_thousand_do_not_overflow():
    numbers = noise(4, 4)
    found = small_attention(
        ExampleNumbers(1000 * numbers.x, *(1000 * getattr(numbers, w) for w in ("w_q", "w_k", "w_v", "w_o")))
    )
    assert found.weights.sum(-1).allclose(torch.ones(1, 4, dtype=torch.float64))
    assert found.added.isfinite().all()


def test_the_usual_numbers_are_halves_and_a_larger_table_begins_with_the_smaller():
    large = usual_numbers(6, LARGEST)
    for n_tokens, d in ((1, 3), (4, 4), (6, 8)):
        small = usual_numbers(n_tokens, d)
        assert small.x.shape == (n_tokens, d)
        for name in ("x", "w_q", "w_k", "w_v", "w_o"):
            mine = getattr(small, name)
            assert torch.equal(mine, getattr(large, name)[: len(mine), :d])
            assert torch.equal(mine * 2, (mine * 2).round())
            assert mine.abs().max() <= 1


def test_heads_that_do_not_share_the_dimensions_evenly_are_refused():
    with pytest.raises(ValueError, match="4 dimensions for 3 heads"):
        small_attention(noise(2, 4), n_heads=3)
