"""Linformer (Wang et al. 2020, arXiv:2006.04768): keys and values are projected to a few before attention.

softmax(Q (E K)ᵀ) (F V). The paper learns E and F; here both are means of equal segments, one of the choices that it
names (section 4, "general projections").
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head


def segments(n_tokens: int, parts: int) -> Float[Tensor, "parts tokens"]:
    """Rows that average equal segments, as far as whole tokens allow; at most one per token."""
    parts = min(parts, n_tokens)
    owner = torch.arange(n_tokens) * parts // n_tokens
    picked = torch.nn.functional.one_hot(owner, parts).T.to(torch.float64)
    return picked / picked.sum(-1, keepdim=True)


def weights(head: Head, rank: int) -> Float[Tensor, "tokens tokens"]:
    """The factor of each token in a segment: its share of the segment's weight."""
    means = segments(head.n_tokens, rank).to(head.k)
    return (head.q @ (means @ head.k).T * head.scale).softmax(-1) @ means


def output(head: Head, rank: int) -> Float[Tensor, "tokens d_value"]:
    means = segments(head.n_tokens, rank).to(head.k)
    return (head.q @ (means @ head.k).T * head.scale).softmax(-1) @ (means @ head.v)


def multiply_adds(n_tokens: int, d_head: int, rank: int) -> int:
    """E·K and F·V, then attention over the segments."""
    return 4 * n_tokens * d_head * min(rank, n_tokens)
