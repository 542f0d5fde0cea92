"""What can be asked of a head's projections: the matrices that make q, k and v, and what these matrices read."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from model_runner.question import Question
from model_runner.request import CaptureRequest


@dataclass(frozen=True, eq=False)
class Projected:
    """``made = read @ matrix + bias`` as the module ``module`` made it, of one head's columns; ``bias`` 0 where none.

    ``read`` is the stream as the layer's norm leaves it. Where a norm of the head's own follows, the module ``norm``,
    the head's numbers are ``(made − less) · factor``; else ``less`` is 0 and ``factor`` 1.
    """

    module: str
    read: Float[Tensor, "positions d_model"]
    matrix: Float[Tensor, "d_model d_head"]
    bias: Float[Tensor, "d_head"]
    made: Float[Tensor, "positions d_head"]
    norm: str
    less: Float[Tensor, "positions d_head"]
    factor: Float[Tensor, "positions d_head"]


@dataclass(frozen=True, eq=False)
class Projections:
    """Of queries, keys and values before any rotation; None where no column of a matrix makes them (latents)."""

    q: Projected | None
    k: Projected | None
    v: Projected | None


@dataclass(frozen=True)
class HeadProjections(Question[Projections]):
    """How a head's vectors come of the stream at these positions. Raises NoWeights."""

    request: CaptureRequest
    layer: int
    head: int
    positions: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class HeadMatrices:
    """The matrices of every head of a layer, float32; None where they are no columns of one matrix (latents).

    ``q`` multiplies what the attention reads, ``o`` what the head passes on; ``k`` and ``v`` are of key/value heads.
    """

    q: Float[Tensor, "heads d_model d_head"] | None
    k: Float[Tensor, "kv_heads d_model d_head"] | None
    v: Float[Tensor, "kv_heads d_model d_value"] | None
    o: Float[Tensor, "heads d_value d_model"] | None


@dataclass(frozen=True)
class LayerMatrices(Question[HeadMatrices]):
    """The matrices of a layer's heads, found by what they make of the request's text. Raises NoWeights."""

    request: CaptureRequest
    layer: int
