"""How a layer makes scores of queries and keys, written as it does it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from model_runner.record import LayerRecord

if TYPE_CHECKING:
    from analysis.cell import Cell  # which is made with what is here


def root_of(scale: float) -> int | None:
    """The d for which a scale is 1/√d; None where the model scales otherwise."""
    d = round(scale**-2)
    return d if d > 1 and math.isclose(scale, d**-0.5, rel_tol=1e-6) else None


def score_formula(record: LayerRecord | Cell, key: str = "k") -> str:
    """As ``q · kᵀ / √d_head``, with its own scale, soft-cap and bias; ``key`` is how k is written."""
    product = f"q · {key}"
    if root_of(record.scale) is not None:
        product += " / √d_head"
    elif record.scale != 1:
        product += f" · {record.scale:.4g}"
    if record.softcap is not None:
        product = f"cap({product})"
    return product if record.bias is None else f"{product} + bias"
