"""The feed-forward part as it is drawn: curves of activations, and where this token's units lie under them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from attention.activations import ACTIVATIONS

SPAN = 4.0  # of the curves, to either side of 0
POINTS = 161
SHOWN = ("ReLU", "GELU", "SiLU")  # beside the model's own


@dataclass(frozen=True, eq=False)
class Curves:
    """``curves`` by name over ``x``; "SwiGLU" is gate times up where both read the same number."""

    x: Float[np.ndarray, "points"]
    curves: dict[str, Float[np.ndarray, "points"]]


def activation_curves(own: str) -> Curves:
    """ReLU, GELU and SiLU, the model's ``own`` where it is another, and SwiGLU."""
    x = torch.linspace(-SPAN, SPAN, POINTS, dtype=torch.float64)
    names = dict.fromkeys((*SHOWN, own))
    curves = {name: ACTIVATIONS[name](x).numpy() for name in names if name in ACTIVATIONS}
    curves["SwiGLU"] = (ACTIVATIONS["SiLU"](x) * x).numpy()
    return Curves(x.numpy(), curves)


def spread(before: Float[np.ndarray, "units"], bins: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Share of the units in each bin of what their activation reads, and the middles of the bins."""
    counts, edges = np.histogram(before, bins=bins)
    return counts / max(1, len(before)), (edges[:-1] + edges[1:]) / 2
