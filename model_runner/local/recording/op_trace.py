"""What became of vectors on their way to a product: something was added to all tokens', and a number divided them."""

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
    """What a side of a product was before: the side is ``(base + added) / by``."""

    base: Tensor  # (heads, tokens, d_head)
    by: float = 1.0
    added: Tensor | None = None  # (heads, d_head): the same for every token

    @property
    def whole(self) -> Tensor:
        """Before the division."""
        return self.base if self.added is None else self.base + self.added[:, None]


@dataclass(eq=False)
class OpTrace:
    """Those of one attention so far."""

    divided: list[tuple[Tensor, Tensor, float]] = field(default_factory=list[tuple[Tensor, Tensor, float]])
    added: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list[tuple[Tensor, Tensor, Tensor]])

    def observe(self, func: Any, made: Tensor, left: Any, right: Any) -> None:
        """A division or an addition that may be such a step."""
        if not torch.is_tensor(left) or made.dim() < 3:
            return
        if func in DIVISIONS and (isinstance(right, int | float) or (torch.is_tensor(right) and right.numel() == 1)):
            self.divided.append((made, left, float(right)))
        elif func in ADDITIONS and torch.is_tensor(right) and made.shape == left.shape != right.shape:
            self.added.append((made, left, right))

    def origin(self, side: Tensor, by_head: Callable[[Tensor], Tensor]) -> Origin:
        """``by_head`` is what gives a tensor of the side's axes those of (heads, tokens, d_head)."""
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
