"""Two sentences that an encoder reads as one text, and which of them looks at which."""

from __future__ import annotations

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from model_runner.capture import Capture

Part = Literal["all", "aa", "ab", "ba", "bb"]  # whose tokens look, then whose are looked at


def second_starts(capture: Capture) -> int | None:
    """The position of the first token of the second sentence, after a separator as the text ends with; None without."""
    ids = [token.id for token in capture.tokens]
    if not capture.tokens or not capture.tokens[-1].special or ids.index(ids[-1]) == len(ids) - 1:
        return None
    start = ids.index(ids[-1]) + 1
    return start if start < len(ids) - 1 else None


def part_cells(n_tokens: int, start: int, part: Part) -> Bool[np.ndarray, "queries keys"]:
    """True where a token of the first letter's sentence looks at one of the second's; a separator ends the first."""
    if part == "all":
        return np.ones((n_tokens, n_tokens), bool)
    second = np.arange(n_tokens) >= start
    looking, looked_at = (second == (letter == "b") for letter in part)
    return looking[:, None] & looked_at[None, :]


def shares(weights: Float[np.ndarray, "queries keys"], start: int) -> Float[np.ndarray, "2 2"]:
    """How much of each sentence's attention goes to each: rows look, mean over the tokens of a sentence."""
    mass = np.stack([weights[:, :start].sum(axis=1), weights[:, start:].sum(axis=1)], axis=1)
    return np.stack([mass[:start].mean(axis=0), mass[start:].mean(axis=0)])
