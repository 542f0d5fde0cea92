"""Entropy and dispersion against loops over single weights."""

from __future__ import annotations

import math

import pytest
import torch

from attention.row_length import TRAINED, entropy, log_n_factor, random_entropy, weight_above


def test_entropy_is_in_bits_and_largest_of_an_even_row():
    for n in (1, 2, 7, 64):
        assert float(entropy(torch.full((n,), 1 / n).double())) == pytest.approx(math.log2(n))
    row = torch.tensor([0.5, 0.25, 0.25, 0.0]).double()
    assert float(entropy(row)) == pytest.approx(1.5)


@pytest.mark.parametrize("log_n", [False, True])
@pytest.mark.parametrize("n", [2, 300, 4096])
def test_the_weight_of_a_fixed_gap_is_the_softmaxs(n, log_n):
    scores = torch.zeros(n).double()
    scores[0] = 3.5
    expected = torch.softmax(scores * (math.log(n) / math.log(512) if log_n else 1), 0)[0]
    assert weight_above(3.5, n, log_n=log_n) == pytest.approx(float(expected), rel=1e-12)


def test_a_fixed_gap_is_washed_out_and_log_n_scaling_holds_it():
    assert weight_above(5.0, 10**6, log_n=False) < 1e-3
    # A gap above log 512 outgrows the number of keys once scores grow with log n: n^(gap / log 512 − 1) → ∞.
    assert weight_above(7.0, 10**6, log_n=True) > weight_above(7.0, 10**3, log_n=True) > 0.5


def test_entropy_of_random_rows_grows_with_their_length_and_less_with_log_n_scaling():
    plain = [random_entropy(n, log_n=False) for n in (64, 512, 4096)]
    scaled = [random_entropy(n, log_n=True) for n in (64, 512, 4096)]
    assert plain == sorted(plain)
    assert scaled[1] == pytest.approx(plain[1])
    assert scaled[2] - scaled[0] < plain[2] - plain[0]
    # of n normal scores of variance 1, for large n: log₂ n − 1/2 · log₂ e
    assert plain[2] == pytest.approx(12 - 0.5 / math.log(2), abs=0.02)
    assert log_n_factor(TRAINED) == 1
