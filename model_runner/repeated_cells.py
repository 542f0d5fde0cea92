"""Cells of a row that are the same sum, and so are rounded together: of a word that comes again, as far away."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

NEAR = 1e-5  # of a score: the same sum in another place of a product is off by less


def repeats(scores: Float[Tensor, "heads queries keys"]) -> Float[Tensor, "heads queries keys"]:
    """How many cells of each one's row, itself included, have its score, all but for float32's rounding."""
    ordered, order = scores.sort(dim=-1)
    begins = torch.ones_like(ordered, dtype=torch.bool)
    begins[..., 1:] = ordered.diff(dim=-1) > NEAR * (1 + ordered[..., 1:].abs())
    run = begins.long().cumsum(dim=-1) - 1
    counts = torch.zeros_like(ordered).scatter_add(-1, run, torch.ones_like(ordered))
    return torch.empty_like(ordered).scatter(-1, order, counts.gather(-1, run))
