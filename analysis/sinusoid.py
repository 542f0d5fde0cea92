"""Sinusoidal positions for display: a table, its waves, and its pairs after a shift."""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float

from attention import rotary
from attention.position_biases import sinusoidal, sinusoidal_shift

BASE = 10000.0


def table(positions: range, size: int) -> Float[np.ndarray, "positions size"]:
    """PE(pos, i) for these positions; ``size`` is even."""
    return sinusoidal(torch.arange(positions.start, positions.stop), size).numpy()


def omegas(size: int) -> Float[np.ndarray, "pairs"]:
    """The rotation of each pair per step in radians, the fastest first."""
    return rotary.frequencies(BASE, size).numpy()


def wavelengths(size: int) -> Float[np.ndarray, "pairs"]:
    """Tokens per full turn: from 2π up, below 20000π for every size."""
    return 2 * math.pi / omegas(size)


def pairs_at(position: int, size: int) -> Float[np.ndarray, "pairs 2"]:
    """(cos, sin) of every pair, so that a step is a counterclockwise rotation."""
    return table(range(position, position + 1), size).reshape(-1, 2)[:, ::-1].copy()


def shift_error(position: int, by: int, size: int) -> float:
    """The largest difference between the rotated position and the formula's ``by`` steps further on."""
    here, further = sinusoidal(torch.tensor([position, position + by]), size)
    return float((sinusoidal_shift(by, size) @ here - further).abs().max())
