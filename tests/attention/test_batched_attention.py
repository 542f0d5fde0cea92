"""A padded batch gives each text the result it gets alone; a cached step gives the last rows of the whole."""

from __future__ import annotations

import math

import pytest
import torch

from attention.batched_attention import HIDDEN, cached_step, padded_batch
from attention.small_attention import ExampleNumbers, small_attention, usual_numbers


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("fill", [-math.inf, HIDDEN])
def test_each_text_gets_what_it_gets_alone(side, causal, fill):
    numbers = usual_numbers(5, 8)
    steps = padded_batch(numbers, 3, n_heads=2, causal=causal, side=side, fill=fill)
    for row, length in enumerate((5, 3)):
        alone = ExampleNumbers(numbers.x[:length], numbers.w_q, numbers.w_k, numbers.w_v, numbers.w_o)
        wanted = small_attention(alone, n_heads=2, causal=causal)
        torch.testing.assert_close(steps.added[row][steps.real[row]], wanted.added)
        real = steps.real[row]
        torch.testing.assert_close(steps.weights[row][:, real][:, :, real], wanted.weights)
        assert not steps.weights[row][:, real][:, :, ~real].any()


def test_a_row_without_any_key_is_nan_with_infinity_and_even_with_a_finite_number():
    numbers = usual_numbers(4, 4)
    assert bool(padded_batch(numbers, 2, side="left").weights[1, 0, 0].isnan().all())
    finite = padded_batch(numbers, 2, side="left", fill=HIDDEN).weights[1, 0, 0]
    torch.testing.assert_close(finite, torch.full((4,), 0.25, dtype=torch.float64))
    assert not bool(padded_batch(numbers, 2, side="right").weights.isnan().any())


def test_dropout_strikes_out_half_of_the_weights_and_a_row_keeps_its_sum_on_average():
    numbers = usual_numbers(8, 8)
    steps = padded_batch(numbers, 6, n_heads=4, causal=False, fill=HIDDEN, dropout=True)
    struck = steps.dropped == 0
    assert 0.4 < struck[0].double().mean() < 0.6  # of 256 weights
    torch.testing.assert_close(steps.dropped[~struck], 2 * steps.weights[~struck])
    assert steps.dropped[0].sum(-1).mean() == pytest.approx(1, abs=0.15)  # of 32 rows
    torch.testing.assert_close(steps.output, steps.dropped @ steps.v)
    assert torch.equal(padded_batch(numbers, 6).dropped, padded_batch(numbers, 6).weights)


@pytest.mark.parametrize("n_cache", [0, 1, 3])
def test_a_step_with_a_cache_gives_the_last_rows(n_cache: int):
    numbers = usual_numbers(4, 4)
    steps, whole = cached_step(numbers, n_cache, n_heads=2), small_attention(numbers, n_heads=2)
    assert steps.keep.shape == (1, 1, 4 - n_cache, 4)
    torch.testing.assert_close(steps.weights[0], whole.weights[:, n_cache:])
    torch.testing.assert_close(steps.added[0], whole.added[n_cache:])
