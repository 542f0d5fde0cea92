"""The delta rule: a state that is queried for a key's value before the new one is written, and corrected by the
difference.

S_t = α S_{t−1} + β (v_t − α S_{t−1} k_t) k_tᵀ, output S_t q_t, with unit keys and queries. DeltaNet is α = 1 (Yang et
al. 2024, arXiv:2406.06484), Gated DeltaNet also forgets (arXiv:2412.06464). The papers learn both numbers for each
token; here they are constants.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head


def unit(x: Float[Tensor, "*heads tokens d_head"]) -> Float[Tensor, "*heads tokens d_head"]:
    """Each row normalized; a zero row stays."""
    size = x.norm(dim=-1, keepdim=True)
    return x / torch.where(size == 0, 1.0, size)


def token_rows(x: Float[Tensor, "*heads tokens d"]) -> tuple[Float[Tensor, "heads 1 d"], ...]:
    """One tensor per token, heads first; a head axis is added if there is none."""
    return (x if x.dim() > 2 else x[None]).unsqueeze(-2).unbind(1)


def weights(head: Head, strength: float, kept: float) -> Float[Tensor, "tokens tokens"]:
    """The equivalent map: A T, where T removes what the state already holds for each key."""
    q, k = unit(head.q), unit(head.k)
    places = torch.arange(head.n_tokens, dtype=q.dtype, device=q.device)
    left = torch.tensor(kept, dtype=q.dtype, device=q.device) ** (places[:, None] - places[None, :]).clamp(min=0)
    known = strength * (k @ k.T * left).tril(-1)
    one = torch.eye(head.n_tokens, dtype=q.dtype, device=q.device)
    told = torch.linalg.solve_triangular(one + known, strength * one, upper=False, unitriangular=True)
    return (q @ k.T * left).tril() @ told


def output(head: Head, strength: float, kept: float) -> Float[Tensor, "*heads tokens d_value"]:
    """Computed token by token."""
    q, k, values = token_rows(unit(head.q)), token_rows(unit(head.k)), token_rows(head.v)
    state, rows = head.blank_state().view(-1, head.k.shape[-1], head.v.shape[-1]), list[Tensor]()
    for query, key, value in zip(q, k, values, strict=True):
        missing = torch.baddbmm(value, key, state, alpha=-kept)
        state = torch.baddbmm(state, key.mT, missing, beta=kept, alpha=strength)
        rows.append(query @ state)
    return torch.cat(rows, dim=-2).view(*head.q.shape[:-1], -1)


def multiply_adds(n_tokens: int, d_head: int, strength: float, kept: float) -> int:
    """Three products of a vector and the state per token: query, write, read."""
    return 3 * n_tokens * d_head**2
