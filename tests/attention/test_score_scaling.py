"""Products of random vectors have variance d, and the softmax's gradient is autograd's."""

from __future__ import annotations

import pytest
import torch

from attention.score_scaling import DIMENSIONS, random_products, saturation, softmax_gradient, variances

PRODUCTS = random_products(2000)


def test_the_measured_variance_is_d_as_far_as_chance_allows():
    for d, variance in zip(DIMENSIONS, variances(PRODUCTS).tolist(), strict=True):
        # A variance of n draws is off by √((kurtosis − 1) / n); the kurtosis of q·k is 3 + 6 / d, so at most 6: 0.05.
        assert variance == pytest.approx(d, rel=5 * 0.05)


def test_a_product_of_d_is_the_sum_of_d_products():
    draw = torch.Generator().manual_seed(0)
    q, k = (torch.randn(2000, DIMENSIONS[-1], generator=draw).double() for _ in range(2))
    for d in (2, 64):
        expected = [sum(float(q[i, t] * k[i, t]) for t in range(d)) for i in range(5)]
        assert PRODUCTS[:5, DIMENSIONS.index(d)].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_autograds(seed):
    scores = 3 * torch.randn(6, generator=torch.Generator().manual_seed(seed)).double()
    expected = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), scores)
    found = softmax_gradient(torch.softmax(scores, 0))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    assert found.sum(0).abs().max() < 1e-12


def test_unscaled_rows_saturate_and_scaled_ones_stay_as_they_are():
    raw, divided = saturation(PRODUCTS, 6, scaled=False), saturation(PRODUCTS, 6, scaled=True)
    assert raw[-1] > 0.95
    assert divided.max() - divided.min() < 0.1
    rows = PRODUCTS[:1998, DIMENSIONS.index(64)].reshape(-1, 6).tolist()
    expected = sum(max(torch.tensor(row).softmax(0).tolist()) for row in rows) / len(rows)
    assert float(raw[DIMENSIONS.index(64)]) == pytest.approx(expected, rel=1e-5)
