"""The residual stream over the layers: its norm, and what attention and FFN each add to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model_runner.block_questions import Additions

PARTS = (
    "attention",
    "cross",
    "mixer",
    "ffn",
    "norm",
    "scale",
    "layer",
    "between",
)  # in the order in which they are drawn


@dataclass(frozen=True, eq=False)
class Growth:
    """Norms (2-norms), of one token or means over all; rows of ``streams`` from the embedding to the last layer.

    ``added`` is by kind of part, NaN in layers without it.
    """

    streams: Float[np.ndarray, "rows"]
    added: dict[str, Float[np.ndarray, "layers"]]


def growth(found: Additions, position: int | None) -> Growth:
    """For the token at ``position``; None: means over all tokens."""
    lengths, streams = (_of(values.double().numpy(), position) for values in (found.lengths, found.streams))
    layers = max((step.layer for step in found.steps if step.layer is not None), default=-1) + 1
    last = {step.layer: i for i, step in enumerate(found.steps)}
    added: dict[str, np.ndarray] = {}
    for kind in PARTS:
        places = [(step.layer, i) for i, step in enumerate(found.steps) if step.part == kind and step.layer is not None]
        if places:
            values = np.full(layers, np.nan)
            for layer, i in places:  # two norms of one layer: their joint change is not the sum of norms
                values[layer] = np.nansum([values[layer], lengths[i]])
            added[kind] = values
    return Growth(np.array([streams[last[layer]] for layer in (None, *range(layers))]), added)


def cosines(vectors: Float[np.ndarray, "steps d_model"], steps: Sequence[int]) -> Float[np.ndarray, "steps"]:
    """The cosine of each of these vectors with the sum of all before it; NaN for the first, and for a zero vector."""
    before = np.cumsum(vectors, axis=0) - vectors
    dots = (before * vectors).sum(axis=1)
    sizes = np.linalg.norm(before, axis=1) * np.linalg.norm(vectors, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (dots / sizes)[list(steps)]


def _of(values: np.ndarray, position: int | None) -> np.ndarray:
    return values.mean(axis=1) if position is None else values[:, position]
