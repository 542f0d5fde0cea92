"""What all heads of a layer keep of a token together: keys before positions turn them, values, and how both lie."""

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
    """``turn`` turns vectors of these tokens as the model's positions do, and ``turn_back`` undoes it.

    ``turn_at`` turns each as if its token stood at another place, counted from the first of these tokens, at most
    twice as far as the last of them; None where positions turn nothing.
    """

    k: Float[Tensor, "kv_heads tokens d_head"]
    v: Float[Tensor, "kv_heads tokens d_value"]
    turn: Callable[[Tensor], Tensor] = _as_they_are
    turn_back: Callable[[Tensor], Tensor] = _as_they_are
    turn_at: Callable[[Tensor, Int[Tensor, "tokens"]], Tensor] | None = None

    @property
    def rows(self) -> Float[Tensor, "tokens width"]:
        """A token a row: the keys of all heads, then their values."""
        return torch.cat([one.transpose(0, 1).flatten(1) for one in (self.k, self.v)], dim=1)

    @cached_property
    def svd(self) -> tuple[Tensor, Tensor, Tensor]:
        """Of the rows: left vectors in columns, singular values from the largest on, right vectors in rows."""
        return torch.linalg.svd(self.rows, full_matrices=False)
