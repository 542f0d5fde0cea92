"""Sinusoidal positions as numbers to be drawn: a table, its waves, and its pairs a few steps further on."""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float

from attention import rotary
from attention.position_biases import sinusoidal, sinusoidal_shift

BASE = 10000.0


def table(positions: range, size: int) -> Float[np.ndarray, "positions size"]:
    """PE(pos, i) of these positions; ``size`` is even."""
    return sinusoidal(torch.arange(positions.start, positions.stop), size).numpy()


def omegas(size: int) -> Float[np.ndarray, "pairs"]:
    """By how many rad a pair turns in a step, the fastest first."""
    return rotary.frequencies(BASE, size).numpy()


def wavelengths(size: int) -> Float[np.ndarray, "pairs"]:
    """Tokens of a full turn: from 2π up, below 20000π for every size."""
    return 2 * math.pi / omegas(size)


def pairs_at(position: int, size: int) -> Float[np.ndarray, "pairs 2"]:
    """(cos, sin) of every pair, in which a step on is a turn to the left."""
    return table(range(position, position + 1), size).reshape(-1, 2)[:, ::-1].copy()


def shift_error(position: int, by: int, size: int) -> float:
    """The largest difference between the turned position and the one that the formula has ``by`` steps further on."""
    here, further = sinusoidal(torch.tensor([position, position + by]), size)
    return float((sinusoidal_shift(by, size) @ here - further).abs().max())
