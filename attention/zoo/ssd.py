"""A state-space model as masked attention (Mamba-2, Dao & Gu 2024, arXiv:2405.21060).

S_t = a_t S_{t−1} + Δ_t k_t v_tᵀ, output q_t S_t, with a_t = exp(−Δ_t · rate): attention without a softmax whose mask
holds the products a_{j+1} … a_i. The paper learns the step Δ for each token; here it is the norm of the key over √d, so
that a long key is written strongly and makes earlier tokens decay.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head


def steps(head: Head) -> Float[Tensor, "*heads tokens"]:
    """Δ, non-negative."""
    return head.k.norm(dim=-1) / head.k.shape[-1] ** 0.5


def weights(head: Head, rate: float) -> Float[Tensor, "tokens tokens"]:
    """(L ∘ Q Kᵀ) Δ: the mask L decays from the diagonal by the steps in between."""
    step = steps(head)
    passed = (step * rate).cumsum(0)
    apart = (passed[:, None] - passed[None, :]).tril()  # the future is masked below; without clipping it could overflow
    return (head.q @ head.k.T * head.scale * torch.exp(-apart) * step).tril()


def output(head: Head, rate: float) -> Float[Tensor, "*heads tokens d_value"]:
    """Computed token by token, as a recurrence."""
    step = steps(head)[..., None, None]  # (…, tokens, 1, 1)
    q, left, state = head.q * head.scale, torch.exp(-step * rate), head.blank_state()
    rows = []
    for token in range(head.n_tokens):
        here = slice(token, token + 1)
        written = head.k[..., here, :].mT @ head.v[..., here, :]
        state = state * left[..., token, :, :] + step[..., token, :, :] * written
        rows.append(q[..., here, :] @ state)
    return torch.cat(rows, dim=-2)


def multiply_adds(n_tokens: int, d_head: int, rate: float) -> int:
    """Two products of a vector and the state per token: write, read."""
    return 2 * n_tokens * d_head**2
