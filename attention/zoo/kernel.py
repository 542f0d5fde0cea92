"""Attention with a kernel that is a product of features: φ(q)·φ(k) instead of exp(q·k).

Then (φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V), and the right side never makes a queries × keys matrix (Katharopoulos et al. 2020,
arXiv:2006.16236); read token by token it is a state that grows by one product per token.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.zoo.head import Head, normalised

TILE = 64  # tokens whose products are computed at once in a causal text


def weights(
    phi_q: Float[Tensor, "tokens features"],
    phi_k: Float[Tensor, "tokens features"],
    keep: Bool[Tensor, "tokens tokens"],
) -> Float[Tensor, "tokens tokens"]:
    """The map that the kernel implies, each row divided by its sum; O(tokens²)."""
    return normalised((phi_q @ phi_k.T).masked_fill(~keep, 0.0))


def mix(
    phi_q: Float[Tensor, "tokens features"],
    phi_k: Float[Tensor, "tokens features"],
    v: Float[Tensor, "tokens d_value"],
    head: Head,
) -> Float[Tensor, "tokens d_value"]:
    """The values under that map and the head's mask, in linear time if the mask is full or causal."""
    ones = torch.cat([v, torch.ones_like(v[:, :1])], dim=1)  # the last column accumulates a row's sum
    if head.sees_all:
        sums = phi_q @ (phi_k.T @ ones)
    elif head.sees_past:
        sums = causal_sums(phi_q, phi_k, ones)
    else:
        return weights(phi_q, phi_k, head.keep) @ v
    return sums[:, :-1] / torch.where(sums[:, -1:] == 0, 1.0, sums[:, -1:])


def causal_sums(
    phi_q: Float[Tensor, "tokens features"],
    phi_k: Float[Tensor, "tokens features"],
    v: Float[Tensor, "tokens d_value"],
    tile: int = TILE,
) -> Float[Tensor, "tokens d_value"]:
    """Σ over keys up to the query of φ(q)·φ(k) v, tile by tile: masked within a tile, earlier ones as a state."""
    state = v.new_zeros(phi_k.shape[1], v.shape[1])
    rows = []
    for start in range(0, len(v), tile):
        here = slice(start, start + tile)
        inside = (phi_q[here] @ phi_k[here].T).tril()
        rows.append(inside @ v[here] + phi_q[here] @ state)
        state = state + phi_k[here].T @ v[here]
    return torch.cat(rows)


def multiply_adds(n_tokens: int, d_head: int, features: int) -> int:
    """φ(K)ᵀV and φ(Q) times it, including the column of ones."""
    return 2 * n_tokens * features * (d_head + 1)
