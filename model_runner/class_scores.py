"""Interpretation of a classifier's scores: one of several classes, several independent ones, or a number."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

Scale = Literal["softmax", "sigmoid", "number"]


def log_shares(logits: Float[Tensor, "*batch classes"], scale: Scale) -> Float[Tensor, "*batch classes"]:
    """Natural log of each class's probability, float64; for a regression (``scale`` "number") the score itself."""
    logits = logits.double()
    match scale:
        case "softmax":
            return torch.log_softmax(logits, dim=-1)
        case "sigmoid":
            return torch.nn.functional.logsigmoid(logits)
        case "number":
            return logits


def shares(logits: Float[Tensor, "*batch classes"], scale: Scale) -> Float[Tensor, "*batch classes"]:
    """Each class's probability, float64; for a regression the score itself."""
    found = log_shares(logits, scale)
    return found if scale == "number" else found.exp()
