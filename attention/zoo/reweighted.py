"""Softmax's own map, reweighted by four rules of ours without learned parameters.

Propagating attention is the rollout of Abnar & Zuidema 2020 (arXiv:2005.00928, section 3) within one head, weighting by
a value's norm comes from Kobayashi et al. 2020 (arXiv:2004.10102, section 3), and sampling keys instead of averaging
them is the hard attention of Xu et al. 2015 (arXiv:1502.03044, section 4.1). A row keeps its sum: 1, or what a sink
leaves.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head


def passed_on(head: Head, rounds: int) -> Float[Tensor, "tokens tokens"]:
    """The map composed with itself this many times; 0 is softmax."""
    own = refined = head.softmax()
    for _ in range(rounds):
        refined = _as_rows_of(own, (refined @ own).masked_fill(~head.keep, 0.0))
    return refined


def added(head: Head, share: float) -> Float[Tensor, "tokens tokens"]:
    """A mixture of each row with the composed map, whose proportion is ``share``."""
    return (1 - share) * head.softmax() + share * passed_on(head, 1)


def by_values(head: Head, power: float) -> Float[Tensor, "tokens tokens"]:
    """Each weight times a power of its value's norm; a row without any value stays."""
    own = head.softmax()
    return _as_rows_of(own, own * head.v.norm(dim=-1) ** power)


def drawn(head: Head, draws: int, seed: int) -> Float[Tensor, "tokens tokens"]:
    """This many keys sampled per row by its weights, with replacement; the share of samples for each key.

    Samples of a sink count for no key. The same numbers for the same seed, on the CPU, row by row.
    """
    own = head.softmax()
    chance = torch.rand(len(own), draws, generator=torch.Generator().manual_seed(seed), dtype=own.dtype).to(own)
    sums = own.cumsum(-1)
    most = sums[:, -1:] if head.sink is None else torch.ones_like(sums[:, -1:])
    found = torch.searchsorted(sums, chance * most, right=True)
    counts = own.new_zeros(len(own), len(own) + 1).scatter_add_(1, found, torch.ones_like(chance))
    return counts[:, :-1] / draws


def _as_rows_of(own: Float[Tensor, "tokens tokens"], rows: Float[Tensor, "tokens tokens"]) -> Tensor:
    """Scale each row to the sum of the original; a zero row is replaced by the original."""
    total = rows.sum(-1, keepdim=True)
    return torch.where(total == 0, own, rows * (own.sum(-1, keepdim=True) / torch.where(total == 0, 1.0, total)))


def adds_passed_on(n_tokens: int, d_head: int, rounds: int) -> int:
    return 2 * n_tokens**2 * d_head + rounds * n_tokens**3


def adds_added(n_tokens: int, d_head: int, share: float) -> int:
    return adds_passed_on(n_tokens, d_head, 1)


def adds_by_values(n_tokens: int, d_head: int, power: float) -> int:
    """As softmax; norms of values are no matrix products."""
    return adds_passed_on(n_tokens, d_head, 0)


def adds_drawn(n_tokens: int, d_head: int, draws: int, seed: int) -> int:
    """All scores, and the sum of the sampled values."""
    return n_tokens**2 * d_head + n_tokens * draws * d_head
