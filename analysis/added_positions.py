"""Sinusoidal positions added to a head's input: the four terms of its scores, and its outputs under a permutation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.added_positions import attend_to_all, four_terms, moved_outputs
from attention.position_biases import sinusoidal
from model_runner.errors import N_, NotSeparable
from model_runner.projection_questions import Projections

Order = Literal["reversed", "swapped", "random"]
TERMS = ("content_content", "content_position", "position_content", "position_position", "total")
NOT_A_PRODUCT = N_("its queries, keys and values are not plain matrix products of the attention's input")


@dataclass(frozen=True, eq=False)
class HeadReads:
    """A head's input for some tokens after its layer's norm, their positions, and its matrices, float64."""

    x: Float[Tensor, "tokens d_model"]
    p: Float[Tensor, "tokens d_model"]
    w_q: Float[Tensor, "d_model d_head"]
    w_k: Float[Tensor, "d_model d_head"]
    w_v: Float[Tensor, "d_model d_value"]
    scale: float


@dataclass(frozen=True, eq=False)
class Reordered:
    """Full attention in the text's order and permuted; ``order`` gives the token at each position of the permutation.

    ``moved`` is how far each token's output moved, relative to its norm, in the text's order.
    """

    order: Int[np.ndarray, "tokens"]
    weights: Float[np.ndarray, "queries keys"]
    output: Float[np.ndarray, "tokens d_value"]
    weights_reordered: Float[np.ndarray, "queries keys"]
    output_reordered: Float[np.ndarray, "tokens d_value"]
    moved: Float[np.ndarray, "tokens"]


def head_reads(found: Projections, positions: range, scale: float) -> HeadReads:
    """For the requested head at these positions. Raises NotSeparable if a norm follows, or none is found."""
    q, k, v = found.q, found.k, found.v
    if q is None or k is None or v is None or q.norm or k.norm or v.norm:
        raise NotSeparable(reason=NOT_A_PRODUCT)
    p = sinusoidal(torch.arange(positions.start, positions.stop), q.read.shape[1])
    return HeadReads(q.read.double(), p, q.matrix.double(), k.matrix.double(), v.matrix.double(), scale)


def four_maps(reads: HeadReads) -> dict[str, Float[np.ndarray, "queries keys"]]:
    """The maps of TERMS by name; the last is the sum of the others."""
    terms = four_terms(reads.x, reads.p, reads.w_q, reads.w_k, reads.scale)
    return {name: getattr(terms, name).numpy() for name in TERMS}


def order_of(count: int, order: Order) -> Int[Tensor, "tokens"]:
    """The token at each position."""
    if order == "random":
        return torch.randperm(count, generator=torch.Generator().manual_seed(1))
    places = torch.arange(count)
    if order == "reversed":
        return places.flip(0)
    places[[0, -1]] = places[[-1, 0]]
    return places


def reordered(reads: HeadReads, order: Order, *, added: bool) -> Reordered:
    """Positions stay in place while the tokens are permuted; ``added`` False: without positions."""
    places = order_of(len(reads.x), order)
    first, other = (
        attend_to_all(x + reads.p if added else x, reads.w_q, reads.w_k, reads.w_v, reads.scale)
        for x in (reads.x, reads.x[places])
    )
    return Reordered(
        places.numpy(),
        first.weights.numpy(),
        first.output.numpy(),
        other.weights.numpy(),
        other.output.numpy(),
        moved_outputs(first, other, places).numpy(),
    )
