"""Two sentences that an encoder reads as one text, and which attends to which."""

from __future__ import annotations

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

Part = Literal["all", "aa", "ab", "ba", "bb"]  # whose tokens are queries, then whose are keys


def part_cells(n_tokens: int, start: int, part: Part) -> Bool[np.ndarray, "queries keys"]:
    """True where a token of the first letter's sentence attends to one of the second's; a separator ends the first."""
    if part == "all":
        return np.ones((n_tokens, n_tokens), bool)
    second = np.arange(n_tokens) >= start
    looking, looked_at = (second == (letter == "b") for letter in part)
    return looking[:, None] & looked_at[None, :]


def shares(weights: Float[np.ndarray, "queries keys"], start: int) -> Float[np.ndarray, "2 2"]:
    """The share of each sentence's attention on each: rows are query sentences, averaged over their tokens."""
    mass = np.stack([weights[:, :start].sum(axis=1), weights[:, start:].sum(axis=1)], axis=1)
    return np.stack([mass[:start].mean(axis=0), mass[start:].mean(axis=0)])
