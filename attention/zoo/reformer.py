"""Reformer (Kitaev et al. 2020, arXiv:2001.04451): a query attends only to keys that a random hash puts near it.

Queries are used as keys (normalized), so that similar vectors fall into the same bucket. Tokens are sorted by bucket
and position and split into chunks; each attends to its own bucket within its chunk and the previous one, and to itself
only if there is no other key (section 2). With several hashes, the keys found by any of them are used.
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
    """The cells found by one hash: the same bucket, within the same chunk of the sorted tokens or the previous one."""
    n_tokens = len(own)
    order = torch.argsort(own, stable=True)
    place = torch.empty_like(order).scatter_(0, order, torch.arange(n_tokens, device=own.device)) // chunk
    back = place[:, None] - place[None, :]
    return (own[:, None] == own[None, :]) & (back >= 0) & (back <= 1)


def weights(head: Head, buckets: int, hashes: int, seed: int) -> Float[Tensor, "tokens tokens"]:
    """A softmax over the keys found, with queries used as keys."""
    chance = torch.Generator().manual_seed(seed)
    seen = torch.zeros_like(head.keep)
    for _ in range(hashes):
        chunk = max(1, -(-2 * head.n_tokens // buckets))  # twice the mean size of a bucket
        seen = seen | found(buckets_of(head.q, buckets, chance), chunk)
    seen = seen & head.keep & ~torch.eye(head.n_tokens, dtype=torch.bool, device=seen.device)
    seen = seen | torch.diag(~seen.any(-1))  # a token that finds no other attends to itself
    size = head.q.norm(dim=-1, keepdim=True)
    shared = head.q @ (head.q / torch.where(size == 0, 1.0, size)).T * head.scale
    return softmax_rows(shared.masked_fill(~seen, -torch.inf))


def multiply_adds(n_tokens: int, d_head: int, buckets: int, hashes: int, seed: int) -> int:
    """The hashes, then each chunk of 2n/buckets tokens with itself and the previous one."""
    chunk = min(n_tokens, -(-2 * n_tokens // buckets))
    hashing = n_tokens * d_head * (buckets // 2)
    return hashes * (hashing + 2 * n_tokens * min(2 * chunk, n_tokens) * d_head)
