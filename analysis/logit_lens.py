"""The logit lens for display: a row per layer, a column per token, the likeliest token in each cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from model_runner.block_questions import Lens
from model_runner.capture import Capture


@dataclass(frozen=True, eq=False)
class LensMap:
    """Rows from the stream before the first layer to the model's output; ``entropy`` and ``kl`` in bits.

    ``first`` is the row in which the model's final likeliest token ranks first for the first time, and ``stays`` the
    row from which on it ranks first in every row.
    """

    tokens: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    ids: Int[np.ndarray, "rows tokens top"]
    probabilities: Float[np.ndarray, "rows tokens top"]
    entropy: Float[np.ndarray, "rows tokens"]
    kl: Float[np.ndarray, "rows tokens"]
    final: Float[np.ndarray, "rows tokens"]
    rank: Int[np.ndarray, "rows tokens"]
    first: Int[np.ndarray, "tokens"]
    stays: Int[np.ndarray, "tokens"]

    @property
    def names(self) -> list[str]:
        """Names of the rows: what the stream has passed. The last one is the model's output."""
        layers = len(self.words) - 1
        return ["0", *(f"L{layer}" for layer in range(layers))]


def lens_map(capture: Capture, lens: Lens, text_of: Callable[[int], str]) -> LensMap:
    """``text_of`` gives a token's displayed text."""
    ids = lens.ids.numpy()
    known = {token: text_of(int(token)) for token in np.unique(ids[..., 0])}
    top = ids[..., 0] == ids[-1:, :, 0]
    return LensMap(
        tokens=tuple(token.text for token in capture.tokens),
        words=tuple(tuple(known[token] for token in row) for row in ids[..., 0]),
        ids=ids,
        probabilities=lens.probabilities.double().numpy(),
        entropy=lens.entropy.double().numpy(),
        kl=np.maximum(lens.kl.double().numpy(), 0.0),  # clears negative rounding errors
        final=lens.final.double().numpy(),
        rank=lens.rank.numpy(),
        first=top.argmax(axis=0),
        stays=_since(top),
    )


def _since(top: np.ndarray) -> np.ndarray:
    """For every column, the row from which on all are true; the last row always is."""
    wrong = ~top[::-1]
    return np.where(wrong.any(axis=0), len(top) - wrong.argmax(axis=0), 0)
