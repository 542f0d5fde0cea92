"""What all heads of a layer store per token: keys before the rotation and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor


def _as_they_are(vectors: Tensor) -> Tensor:
    return vectors


@dataclass(frozen=True, eq=False)
class Layer:
    """``turn`` rotates vectors of these tokens by the model's positions, and ``turn_back`` undoes it.

    ``turn_at`` rotates each as if its token were at another position, relative to the first of these tokens and at most
    twice the last one's; None if there is no rotation.
    """

    k: Float[Tensor, "kv_heads tokens d_head"]
    v: Float[Tensor, "kv_heads tokens d_value"]
    turn: Callable[[Tensor], Tensor] = _as_they_are
    turn_back: Callable[[Tensor], Tensor] = _as_they_are
    turn_at: Callable[[Tensor, Int[Tensor, "tokens"]], Tensor] | None = None

    @property
    def rows(self) -> Float[Tensor, "tokens width"]:
        """One row per token: the keys of all heads, then their values."""
        return torch.cat([one.transpose(0, 1).flatten(1) for one in (self.k, self.v)], dim=1)

    @cached_property
    def svd(self) -> tuple[Tensor, Tensor, Tensor]:
        """SVD of the rows: left vectors as columns, singular values in decreasing order, right vectors as rows."""
        return torch.linalg.svd(self.rows, full_matrices=False)
