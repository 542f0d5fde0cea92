"""Reformer (Kitaev et al. 2020, arXiv:2001.04451): a query looks only at keys that a random hash puts beside it.

Queries are keys (of length one), so that near vectors fall into the same bucket. Tokens are sorted by bucket and place
and cut into chunks; each sees its own bucket within its chunk and the one before, itself only if it sees no other
(section 2). Of several hashes the keys that any of them finds are seen.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.zoo.head import Head, softmax_rows


def buckets_of(x: Float[Tensor, "tokens d_head"], buckets: int, chance: torch.Generator) -> Int[Tensor, "tokens"]:
    """argmax of [xR; −xR] for a random R; ``buckets`` is even, or 1."""
    if buckets == 1:
        return torch.zeros(len(x), dtype=torch.long, device=x.device)
    turned = x @ torch.randn(x.shape[1], buckets // 2, generator=chance, dtype=torch.float64).to(x)
    return torch.cat([turned, -turned], dim=1).argmax(-1)


def found(own: Int[Tensor, "tokens"], chunk: int) -> Bool[Tensor, "tokens tokens"]:
    """Whom one hash shows whom: the same bucket, within the own chunk of the sorted tokens or the one before."""
    n_tokens = len(own)
    order = torch.argsort(own, stable=True)
    place = torch.empty_like(order).scatter_(0, order, torch.arange(n_tokens, device=own.device)) // chunk
    back = place[:, None] - place[None, :]
    return (own[:, None] == own[None, :]) & (back >= 0) & (back <= 1)


def weights(head: Head, buckets: int, hashes: int, seed: int) -> Float[Tensor, "tokens tokens"]:
    """A softmax over the keys found, with queries in the place of keys."""
    chance = torch.Generator().manual_seed(seed)
    seen = torch.zeros_like(head.keep)
    for _ in range(hashes):
        chunk = max(1, -(-2 * head.n_tokens // buckets))  # twice as long as a bucket is on average
        seen = seen | found(buckets_of(head.q, buckets, chance), chunk)
    seen = seen & head.keep & ~torch.eye(head.n_tokens, dtype=torch.bool, device=seen.device)
    seen = seen | torch.diag(~seen.any(-1))  # a token that finds no other sees itself
    size = head.q.norm(dim=-1, keepdim=True)
    shared = head.q @ (head.q / torch.where(size == 0, 1.0, size)).T * head.scale
    return softmax_rows(shared.masked_fill(~seen, -torch.inf))


def multiply_adds(n_tokens: int, d_head: int, buckets: int, hashes: int, seed: int) -> int:
    """The hashes, then each chunk of 2n/buckets tokens with itself and the one before."""
    chunk = min(n_tokens, -(-2 * n_tokens // buckets))
    hashing = n_tokens * d_head * (buckets // 2)
    return hashes * (hashing + 2 * n_tokens * min(2 * chunk, n_tokens) * d_head)
