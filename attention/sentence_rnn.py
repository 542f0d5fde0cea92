"""A recurrent network that reads a sentence's vectors one after another: its states, and the influence of each.

With random matrices, in float64; Elman 1990, Cognitive Science 14(2).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

STATE = 24  # dimension of the recurrent state


@dataclass(frozen=True, eq=False)
class SentenceReading:
    """``states`` after each token; ``reach`` is ‖∂h_T/∂h_t‖, the spectral norm from each state to the last."""

    states: Float[Tensor, "tokens state"]
    reach: Float[Tensor, "tokens"]


def read_sentence(vectors: Float[Tensor, "tokens d"], gain: float, *, seed: int = 0) -> SentenceReading:
    """h ← tanh(W h + U x), from h = 0; W is ``gain`` times a random rotation, U random, each x scaled to norm √d.

    The reach is the product of the Jacobians diag(1 − h²) W of all steps in between.
    """
    draw = torch.Generator().manual_seed(seed)
    turn = torch.linalg.qr(torch.randn(STATE, STATE, generator=draw, dtype=torch.float64)).Q * gain
    d = vectors.shape[1]
    put_in = torch.randn(STATE, d, generator=draw, dtype=torch.float64) * 0.3 / d**0.5
    rows = vectors.double()
    rows = rows / rows.pow(2).mean(-1, keepdim=True).sqrt().clamp(min=1e-12)
    state = torch.zeros(STATE, dtype=torch.float64)
    states: list[Tensor] = []
    for row in rows:
        state = torch.tanh(turn @ state + put_in @ row)
        states.append(state)
    product, reach = torch.eye(STATE, dtype=torch.float64), [1.0]
    for state in reversed(states[1:]):
        product = product @ (turn * (1 - state**2)[:, None])
        reach.append(float(torch.linalg.matrix_norm(product, 2)))
    return SentenceReading(torch.stack(states), torch.tensor(reach[::-1], dtype=torch.float64))
