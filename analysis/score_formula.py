"""The formula by which a layer computes scores from queries and keys."""

from __future__ import annotations

import math
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Scored(Protocol):
    """A layer's record, or a cell of it."""

    @property
    def q(self) -> Any: ...  # with ``d_head`` as its last axis
    @property
    def scale(self) -> float: ...
    @property
    def softcap(self) -> float | None: ...
    @property
    def bias(self) -> object | None: ...


def root_of(scale: float) -> int | None:
    """The d for which a scale is 1/√d; None if the model scales otherwise."""
    d = round(scale**-2)
    return d if d > 1 and math.isclose(scale, d**-0.5, rel_tol=1e-6) else None


def score_formula(scored: Scored, key: str = "k") -> str:
    """Such as ``q · kᵀ / √d_head``, with the layer's own scale, soft-cap and bias; ``key`` is the notation of k."""
    product = f"q · {key}"
    if (root := root_of(scored.scale)) is not None:
        product += " / √d_head" if root == scored.q.shape[-1] else f" / √{root}"
    elif scored.scale != 1:
        product += f" · {scored.scale:.4g}"
    if scored.softcap is not None:
        product = f"cap({product})"
    return product if scored.bias is None else f"{product} + bias"
