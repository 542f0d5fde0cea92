"""A bias that is added to the scores and depends on the distance alone: T5's (Raffel et al. 2019, arXiv:1910.10683)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class RelativeBias:
    """``values[h, d]`` is added to head h's scores of the key ``d + first`` places after the query."""

    values: Float[Tensor, "heads distances"]
    first: int

    @property
    def nbytes(self) -> int:
        return self.values.nbytes

    def tile(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"]:
        """The bias of a tile, float32; O(tile) memory. Slices have explicit bounds."""
        device = self.values.device
        away = torch.arange(keys.start, keys.stop, device=device)
        away = away - torch.arange(queries.start, queries.stop, device=device)[:, None] - self.first
        return self.values[heads].float()[:, away]

    def largest(self) -> Float[Tensor, "heads"]:
        """The largest absolute value for each head, float32."""
        return self.values.float().abs().amax(dim=-1)


def relative(bias: Float[Tensor, "heads queries keys"]) -> RelativeBias | None:
    """The rule of a whole table of biases that starts at the first query and key; None if distance does not determine
    them.
    """
    found = RelativeBias(torch.cat([bias[:, :, 0].flip(1), bias[:, 0, 1:]], dim=1), 1 - bias.shape[1])
    heads, queries, keys = (slice(0, size) for size in bias.shape)
    return found if torch.equal(found.tile(heads, queries, keys), bias.float()) else None


def mean_by_distance(
    scores: Float[Tensor, "heads tokens tokens"], visible: Bool[Tensor, "heads tokens tokens"]
) -> RelativeBias:
    """The mean of each head's visible cells by distance; 0 where none is visible."""
    n = scores.shape[1]
    away = torch.arange(n, device=scores.device) - torch.arange(n, device=scores.device)[:, None] + n - 1
    away = away.expand_as(scores).flatten(1)
    empty = torch.zeros(len(scores), 2 * n - 1, dtype=scores.dtype, device=scores.device)
    counts = empty.scatter_add(1, away, visible.to(scores.dtype).flatten(1)).clamp(min=1.0)
    sums = empty.scatter_add(1, away, scores.masked_fill(~visible, 0.0).flatten(1))
    return RelativeBias(sums / counts, 1 - n)


def by_distance(
    bias: Float[Tensor, "heads tokens tokens"],
    visible: Bool[Tensor, "heads tokens tokens"],
    near: Float[Tensor, "heads tokens tokens"],
) -> RelativeBias | None:
    """The rule of biases known only up to ``near``, and only in visible cells; None if distance does not determine
    them.
    """
    found, rounded = mean_by_distance(bias, visible), mean_by_distance(near, visible)
    heads, queries, keys = (slice(0, size) for size in bias.shape)
    off = (found.tile(heads, queries, keys) - bias).masked_fill(~visible, 0.0)
    return found if bool((off.abs() <= near + rounded.tile(heads, queries, keys)).all()) else None
