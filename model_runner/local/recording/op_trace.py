"""Traces what happens to vectors before a product: a vector added to every token, and a division by a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

DIVISIONS = {torch.div, Tensor.div, Tensor.__truediv__, torch.true_divide, Tensor.true_divide}
ADDITIONS = {torch.add, Tensor.add, Tensor.__add__}


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a factor of a product came from: it is ``(base + added) / by``."""

    base: Tensor  # (heads, tokens, d_head)
    by: float = 1.0
    added: Tensor | None = None  # (heads, d_head): the same for every token

    @property
    def whole(self) -> Tensor:
        """The vectors before the division."""
        return self.base if self.added is None else self.base + self.added[:, None]


@dataclass(eq=False)
class OpTrace:
    """The operations traced in one attention so far."""

    divided: list[tuple[Tensor, Tensor, float]] = field(default_factory=list[tuple[Tensor, Tensor, float]])
    added: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list[tuple[Tensor, Tensor, Tensor]])

    def observe(self, func: Any, made: Tensor, left: Any, right: Any) -> None:
        """Record a division or an addition that may be such a step."""
        if not torch.is_tensor(left) or made.dim() < 3:
            return
        if func in DIVISIONS and (isinstance(right, int | float) or (torch.is_tensor(right) and right.numel() == 1)):
            self.divided.append((made, left, float(right)))
        elif func in ADDITIONS and torch.is_tensor(right) and made.shape == left.shape != right.shape:
            self.added.append((made, left, right))

    def origin(self, side: Tensor, by_head: Callable[[Tensor], Tensor]) -> Origin:
        """The origin of a factor; ``by_head`` reshapes a tensor with the factor's axes to (heads, tokens, d_head)."""
        whole, by = next(((whole, by) for made, whole, by in self.divided if made is side), (side, 1.0))
        for made, base, added in self.added:
            if made is whole:
                every = by_head(added.expand_as(made))
                if bool((every == every[:, :1]).all()):
                    return Origin(by_head(base), by, every[:, 0].clone())
        return Origin(by_head(whole), by)

    def clear(self) -> None:
        self.divided.clear()
        self.added.clear()
