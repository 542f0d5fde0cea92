"""Gradients by depth and by distance: against products of Jacobians, differences, and what is known of each kind."""

from __future__ import annotations

import pytest
import torch

from attention import gradient_flow
from attention.gradient_flow import HIDDEN, STATE, TOKENS, WIDTH, attention_by_distance, gradient_by_depth
from attention.gradient_flow import gradient_by_distance as by_distance


def by_hand(residual: bool, depth: int) -> list[float]:
    """Backward with the Jacobians written out: F′ = W₂ diag(1 − tanh²) W₁, with residuals F′ + 1."""
    draw = torch.Generator().manual_seed(0)
    x, target = (torch.randn(TOKENS, WIDTH, generator=draw, dtype=torch.float64) for _ in range(2))
    jacobians: list[torch.Tensor] = []
    for _ in range(depth):
        up = torch.randn(HIDDEN, WIDTH, generator=draw, dtype=torch.float64) / WIDTH**0.5
        down = torch.randn(WIDTH, HIDDEN, generator=draw, dtype=torch.float64) / HIDDEN**0.5
        bent = torch.tanh(x @ up.T)
        slopes = torch.einsum("dh,th,hw->tdw", down, 1 - bent**2, up)
        jacobians.append(slopes + torch.eye(WIDTH) if residual else slopes)
        x = x + bent @ down.T if residual else bent @ down.T
    gradient = 2 * (x - target) / x.numel()
    sizes = [float(gradient.norm())]
    for jacobian in reversed(jacobians):
        gradient = torch.einsum("td,tdw->tw", gradient, jacobian)
        sizes.insert(0, float(gradient.norm()))
    return [size / sizes[-1] for size in sizes]


@pytest.mark.parametrize("stack, residual", [("none", False), ("plain", True)])
def test_the_gradient_is_the_product_of_the_jacobians_and_a_residual_adds_one(stack, residual):
    assert gradient_by_depth(stack, 6) == pytest.approx(by_hand(residual, 6), rel=1e-9)


def test_without_residuals_it_vanishes_and_post_norm_loses_more_than_pre_norm():
    first = {stack: gradient_by_depth(stack, 24, 0.7)[0] for stack in gradient_flow.STACKS}
    assert first["none"] < 1e-6 < 0.1 < first["pre"]
    assert first["post"] < 0.5 * first["pre"]


@pytest.mark.parametrize("gain", [0.5, 0.9, 1.0])
def test_back_in_time_it_shrinks_at_least_by_the_gain_a_step(gain):
    sizes = by_distance(gain, 20)
    assert sizes[0] == pytest.approx(1)
    assert all(float(sizes[k]) <= gain**k * (1 + 1e-9) for k in range(21))
    assert float(sizes[20]) < 0.9 * gain**10


def test_attention_reaches_every_token_in_one_step():
    sizes = attention_by_distance(30)
    assert float(sizes.sum()) == pytest.approx(1)  # its weights
    assert float(sizes[-10:].mean()) > 0.2 * float(sizes[:10].mean())
    assert STATE > 1
