"""Dual chunk attention (An et al. 2024, arXiv:2402.17463): softmax over all keys, from distances that were trained.

Each rotated pair of a query and a key is turned further, to the distance at which the key seems to be
(``attention/dual_chunk.py``). A text within one chunk is softmax as it is.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.dual_chunk import index_map
from attention.rotary import as_complex
from attention.zoo.head import Head, softmax_rows

ROWS = 64  # queries whose pairs are turned at once: rows × tokens × pairs numbers


def weights(head: Head, chunk: int, local: int) -> Float[Tensor, "tokens tokens"]:
    """O(tokens² · pairs) work: every product is turned by itself, where the paper has three products of matrices."""
    if head.turns is None:
        raise ValueError("dual chunk attention needs queries and keys that are turned by their positions")
    theta, pairs = head.turns
    places = torch.arange(head.n_tokens, device=head.q.device)
    farther = index_map(head.n_tokens, chunk=chunk, local=local).distance - (places[:, None] - places[None, :])
    q, k = as_complex(head.q, pairs), as_complex(head.k, pairs)
    blocks = []
    for start in range(0, head.n_tokens, ROWS):
        here = slice(start, start + ROWS)
        angle = farther[here, :, None] * theta.to(torch.float64)
        turned = q[here, None] * k.conj()[None] * (torch.polar(torch.ones_like(angle), angle) - 1)
        blocks.append(head.q[here] @ head.k.T + turned.real.sum(-1).to(head.q))
    scores = torch.cat(blocks) * head.scale
    return softmax_rows(scores.masked_fill(~head.keep, -torch.inf))


def multiply_adds(n_tokens: int, d_head: int, chunk: int, local: int) -> int:
    """As softmax: each query meets each key once, in one of its three positions."""
    return 2 * n_tokens**2 * d_head
