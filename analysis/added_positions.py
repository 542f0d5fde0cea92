"""Sinusoidal positions added to what a head reads: the four parts of its scores, and its outputs in another order."""

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
    """What a head reads of some tokens, as its layer's norm leaves it, their positions, and its matrices, float64."""

    x: Float[Tensor, "tokens d_model"]
    p: Float[Tensor, "tokens d_model"]
    w_q: Float[Tensor, "d_model d_head"]
    w_k: Float[Tensor, "d_model d_head"]
    w_v: Float[Tensor, "d_model d_value"]
    scale: float


@dataclass(frozen=True, eq=False)
class Reordered:
    """All to all, in the text's order and in another; ``order`` is which token stands at each place of the other.

    ``moved`` is how far each token's output moved, as a share of its length, in the text's order.
    """

    order: Int[np.ndarray, "tokens"]
    weights: Float[np.ndarray, "queries keys"]
    output: Float[np.ndarray, "tokens d_value"]
    weights_reordered: Float[np.ndarray, "queries keys"]
    output_reordered: Float[np.ndarray, "tokens d_value"]
    moved: Float[np.ndarray, "tokens"]


def head_reads(found: Projections, positions: range, scale: float) -> HeadReads:
    """Of the head that was asked for at these positions. Raises NotSeparable where a norm follows, or none is found."""
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
    """Which token stands at each place."""
    if order == "random":
        return torch.randperm(count, generator=torch.Generator().manual_seed(1))
    places = torch.arange(count)
    if order == "reversed":
        return places.flip(0)
    places[[0, -1]] = places[[-1, 0]]
    return places


def reordered(reads: HeadReads, order: Order, *, added: bool) -> Reordered:
    """Positions stay where they are while the tokens move; not ``added``, there are none."""
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
