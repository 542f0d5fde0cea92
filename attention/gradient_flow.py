"""How far gradients reach: through a stack of layers with and without residuals, and back in time through an RNN.

Computed with random numbers, by autograd, in float64.
"""

from __future__ import annotations

import functools
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

Stack = Literal["none", "plain", "pre", "post"]  # no residuals; residuals without norms; norm before; norm on the sum
STACKS: tuple[Stack, ...] = ("none", "plain", "pre", "post")
WIDTH, HIDDEN, TOKENS = 32, 64, 16
STATE = 24  # dimension of the recurrent state


def _norm(x: Tensor) -> Tensor:
    """RMSNorm without a gain."""
    return x / x.pow(2).mean(-1, keepdim=True).sqrt()


@functools.lru_cache(maxsize=64)
def gradient_by_depth(stack: Stack, depth: int, gain: float = 1.0, *, seed: int = 0) -> tuple[float, ...]:
    """‖∂loss/∂x‖ of the stream before each of ``depth`` layers and after the last, divided by the last one.

    A layer is F(x) = W₂ tanh(W₁ x), with random matrices ``gain`` times those that preserve a vector's norm; the loss
    is the mean squared distance of the stream from a random target.
    """
    draw = torch.Generator().manual_seed(seed)

    def random(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=draw, dtype=torch.float64) * gain / columns**0.5

    x = torch.randn(TOKENS, WIDTH, generator=draw, dtype=torch.float64)
    target = torch.randn(TOKENS, WIDTH, generator=draw, dtype=torch.float64)
    streams = [x.requires_grad_()]
    for _ in range(depth):
        up, down, x = random(HIDDEN, WIDTH), random(WIDTH, HIDDEN), streams[-1]
        made = torch.tanh((_norm(x) if stack == "pre" else x) @ up.T) @ down.T
        after = made if stack == "none" else x + made
        streams.append(_norm(after) if stack == "post" else after)
    loss = (streams[-1] - target).pow(2).mean()
    sizes = [float(one.norm()) for one in torch.autograd.grad(loss, streams)]
    return tuple(size / sizes[-1] for size in sizes)


@functools.lru_cache(maxsize=64)
def gradient_by_distance(gain: float, steps: int, *, seed: int = 0) -> Float[Tensor, "distances"]:
    """‖∂h_T/∂h_(T−k)‖ (spectral norm) for k = 0 … ``steps`` of h ← tanh(W h + x), by autograd.

    W is ``gain`` times a random rotation, so without tanh the norm would be exactly gainᵏ.
    """
    draw = torch.Generator().manual_seed(seed)
    turn = torch.linalg.qr(torch.randn(STATE, STATE, generator=draw, dtype=torch.float64)).Q * gain
    h = torch.zeros(STATE, dtype=torch.float64)
    states = [h.requires_grad_()]
    for _ in range(steps):
        put_in = 0.3 * torch.randn(STATE, generator=draw, dtype=torch.float64)
        states.append(torch.tanh(turn @ states[-1] + put_in))
    rows = [torch.autograd.grad(states[-1][i], states, retain_graph=True) for i in range(STATE)]
    jacobians = [torch.stack([row[at] for row in rows]) for at in range(len(states))]
    return torch.stack([torch.linalg.matrix_norm(one, 2) for one in reversed(jacobians)])


def attention_by_distance(steps: int, *, seed: int = 0) -> Float[Tensor, "distances"]:
    """‖∂o_T/∂v_(T−k)‖ of one attention row over as many tokens: each weight, one step away for any k."""
    draw = torch.Generator().manual_seed(seed)
    values = torch.randn(steps + 1, STATE, generator=draw, dtype=torch.float64).requires_grad_()
    weights = torch.softmax(torch.randn(steps + 1, generator=draw, dtype=torch.float64), 0)
    output = weights @ values
    rows = torch.stack([torch.autograd.grad(output[i], values, retain_graph=True)[0] for i in range(STATE)])
    return torch.linalg.matrix_norm(rows.transpose(0, 1), 2).flip(0)
