"""Dual chunk attention (An et al. 2024, arXiv:2402.17463): softmax over all keys, at distances seen in training.

Keys have their position within their chunk; a query has three positions, and so three matrix products: with the keys of
its own chunk, of the previous chunk, and of all earlier ones (``attention/dual_chunk.py``). For a text of a single
chunk this is softmax.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.dual_chunk import INTER, INTRA, SUCCESSIVE, index_map
from attention.zoo.head import Head, softmax_rows


def weights(head: Head, chunk: int, local: int) -> Float[Tensor, "tokens tokens"]:
    return softmax_rows(scores(head, chunk, local).masked_fill(~head.keep, -torch.inf))


def scores(head: Head, chunk: int, local: int) -> Float[Tensor, "tokens tokens"]:
    """Scores of keys up to the query's chunk; 0 after it."""
    if head.layer is None or head.layer.turn_at is None:
        raise ValueError("dual chunk attention needs queries and keys that are turned by their positions")
    turn, n = head.layer.turn_at, head.n_tokens
    inside, largest = torch.arange(n) % chunk, chunk + local - 1
    k = turn(head.layer.k[head.kv_head], inside)
    plain = head.layer.turn_back(head.q) * head.scale
    own = turn(plain, inside)
    across = turn(plain, (inside + chunk).clamp(max=largest)) if n > chunk else own
    far = turn(plain, torch.full_like(inside, largest)) if n > 2 * chunk else own
    found = head.q.new_zeros(n, n)
    for start in range(0, n, chunk):
        here, before = slice(start, start + chunk), max(0, start - chunk)
        found[here, :before] = far[here] @ k[:before].T  # inter
        found[here, before:start] = across[here] @ k[before:start].T  # successive
        found[here, here] = own[here] @ k[here].T  # intra
    return found


def parts(n_tokens: int, chunk: int, local: int) -> tuple[Bool[Tensor, "tokens tokens"], ...]:
    """The keys of the query's chunk, of the previous one, and all earlier ones."""
    region = index_map(n_tokens, chunk=chunk, local=local).region
    return region == INTRA, region == SUCCESSIVE, region == INTER


def multiply_adds(n_tokens: int, d_head: int, chunk: int, local: int) -> int:
    """As softmax: each query is multiplied with each key once, at one of its three positions."""
    return 2 * n_tokens**2 * d_head
