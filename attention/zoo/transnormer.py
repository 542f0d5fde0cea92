"""TransNormer (Qin et al. 2022, arXiv:2210.10340): a norm after the sum instead of a division by the row's sum.

RMSNorm(φ(Q) (φ(K)ᵀ V)), φ = elu + 1: it removes linear attention's denominator, whose gradients are unbounded. The norm
has no epsilon, so that it is invariant to a scaling of the rows. Its lower layers use softmax within blocks instead
(DiagAttention).
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.norms import rms_factor, rms_norm
from attention.zoo import kernel
from attention.zoo.head import Head, softmax_rows
from attention.zoo.linear import features


def weights(head: Head) -> Float[Tensor, "tokens tokens"]:
    """Each row is multiplied by the norm factor of its output."""
    raw = (features(head.q) @ features(head.k).T).masked_fill(~head.keep, 0.0)
    return raw * rms_factor(raw @ head.v, epsilon=0.0)


def output(head: Head) -> Float[Tensor, "tokens d_value"]:
    q, k = features(head.q), features(head.k)
    if head.sees_all:
        return rms_norm(q @ (k.T @ head.v), epsilon=0.0)
    if head.sees_past:
        return rms_norm(kernel.causal_sums(q, k, head.v), epsilon=0.0)
    return rms_norm((q @ k.T).masked_fill(~head.keep, 0.0) @ head.v, epsilon=0.0)


def multiply_adds(n_tokens: int, d_head: int) -> int:
    return 2 * n_tokens * d_head**2


def block_weights(head: Head, size: int) -> Float[Tensor, "tokens tokens"]:
    """Softmax over the keys of the query's own block of this many tokens; the last block may be shorter."""
    block = torch.arange(head.n_tokens, device=head.q.device) // size
    return softmax_rows(head.scores.masked_fill(block[:, None] != block[None, :], -torch.inf), head.sink)


def block_multiply_adds(n_tokens: int, d_head: int, size: int) -> int:
    return 2 * n_tokens * min(size, n_tokens) * d_head
