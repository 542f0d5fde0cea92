"""Four measures of how well a query and a key match."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

SEED = 3


@dataclass(frozen=True, eq=False)
class Split:
    """q·k = ‖q‖ ‖k‖ cos, for every cell; cos is 0 for a zero vector."""

    q_norms: Float[Tensor, "queries"]
    k_norms: Float[Tensor, "keys"]
    cosines: Float[Tensor, "queries keys"]


def split(q: Float[Tensor, "queries d"], k: Float[Tensor, "keys d"]) -> Split:
    """The norms and cosines of these vectors."""
    q_norms, k_norms = q.norm(dim=-1), k.norm(dim=-1)
    lengths = torch.outer(q_norms, k_norms)
    return Split(q_norms, k_norms, torch.where(lengths > 0, (q @ k.T) / lengths.clamp_min(1e-300), 0.0))


def scaled_dot(q: Float[Tensor, "queries d"], k: Float[Tensor, "keys d"]) -> Float[Tensor, "queries keys"]:
    """q·k / √d (Vaswani et al. 2017)."""
    return q @ k.T / math.sqrt(q.shape[-1])


@dataclass(frozen=True, eq=False)
class Additive:
    """The learned parameters of additive attention; here small constants that are of no model."""

    w_q: Float[Tensor, "d d"]
    w_k: Float[Tensor, "d d"]
    v: Float[Tensor, "d"]


def usual_additive(d: int) -> Additive:
    """Multiples of one half, always the same."""
    drawn = torch.randint(-2, 3, (3, d, d), generator=torch.Generator().manual_seed(SEED)).double() / 2
    return Additive(drawn[0], drawn[1], drawn[2, 0])


def additive(
    q: Float[Tensor, "queries d"], k: Float[Tensor, "keys d"], learned: Additive
) -> Float[Tensor, "queries keys"]:
    """v · tanh(q W_q + k W_k), a small network for every cell (Bahdanau et al. 2015, arXiv:1409.0473)."""
    hidden = torch.tanh((q @ learned.w_q)[:, None] + (k @ learned.w_k)[None])
    return hidden @ learned.v
