"""A feed-forward network with every intermediate matrix kept, small enough to be followed number by number.

Plain: act(x W₁ + b₁) W₂ + b₂ (Vaswani et al. 2017, section 3.3); gated: (act(x W_g) ⊙ (x W₁ + b₁)) W₂ + b₂ (Shazeer
2020, arXiv:2002.05202).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention.activations import ACTIVATIONS


@dataclass(frozen=True, eq=False)
class SmallFeedForward:
    """The input: the tokens' vectors, matrices and biases. ``w_gate`` is used if the network is gated."""

    x: Float[Tensor, "tokens d_model"]
    w_gate: Float[Tensor, "d_model units"]
    w_1: Float[Tensor, "d_model units"]
    b_1: Float[Tensor, "1 units"]
    w_2: Float[Tensor, "units d_model"]
    b_2: Float[Tensor, "1 d_model"]


@dataclass(frozen=True, eq=False)
class FeedForwardSteps:
    """The results. ``gate`` is the activation's input if the network is gated; otherwise it is ``hidden``."""

    gate: Float[Tensor, "tokens units"] | None
    product: Float[Tensor, "tokens units"]
    hidden: Float[Tensor, "tokens units"]
    active: Float[Tensor, "tokens units"]
    values: Float[Tensor, "tokens units"]
    written: Float[Tensor, "tokens d_model"]
    added: Float[Tensor, "tokens d_model"]


def small_feed_forward(numbers: SmallFeedForward, activation: str, *, gated: bool) -> FeedForwardSteps:
    """Every step, each computed from the previous one; ``activation`` is one of ACTIVATIONS."""
    act = ACTIVATIONS[activation]
    gate = numbers.x @ numbers.w_gate if gated else None
    product = numbers.x @ numbers.w_1
    hidden = product + numbers.b_1
    active = act(hidden if gate is None else gate)
    values = active if gate is None else active * hidden
    written = values @ numbers.w_2
    return FeedForwardSteps(gate, product, hidden, active, values, written, written + numbers.b_2)


def usual_feed_forward() -> SmallFeedForward:
    """Two tokens of three dimensions and four units, multiples of one half for mental arithmetic."""
    drawn = torch.randint(-2, 3, (14, 4), generator=torch.Generator().manual_seed(SEED)).double() / 2
    x, w_gate, w_1, b_1, w_2, b_2 = drawn.split([2, 3, 3, 1, 4, 1])
    return SmallFeedForward(x[:, :3], w_gate, w_1, b_1, w_2[:, :3], b_2[:, :3])


SEED = 5
