"""The feed-forward network for display: activation curves, and where this token's units lie on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from attention.activations import ACTIVATIONS

SPAN = 4.0  # of the curves, on both sides of 0
POINTS = 161
SHOWN = ("ReLU", "GELU", "SiLU")  # besides the model's own


@dataclass(frozen=True, eq=False)
class Curves:
    """``curves`` by name over ``x``; "SwiGLU" is gate times up with the same input for both."""

    x: Float[np.ndarray, "points"]
    curves: dict[str, Float[np.ndarray, "points"]]


def activation_curves(own: str) -> Curves:
    """ReLU, GELU and SiLU, the model's ``own`` if it is another, and SwiGLU."""
    x = torch.linspace(-SPAN, SPAN, POINTS, dtype=torch.float64)
    names = dict.fromkeys((*SHOWN, own))
    curves = {name: ACTIVATIONS[name](x).numpy() for name in names if name in ACTIVATIONS}
    curves["SwiGLU"] = (ACTIVATIONS["SiLU"](x) * x).numpy()
    return Curves(x.numpy(), curves)


def spread(before: Float[np.ndarray, "units"], bins: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Share of the units in each bin of their pre-activation, and the bins' centres."""
    counts, edges = np.histogram(before, bins=bins)
    return counts / max(1, len(before)), (edges[:-1] + edges[1:]) / 2
