"""Questions about a head's projections: the matrices that make q, k and v, and their inputs."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from model_runner.question import Question
from model_runner.request import CaptureRequest


@dataclass(frozen=True, eq=False)
class Projected:
    """``made = read @ matrix + bias``, computed by ``module``, for the columns of one head; ``bias`` is 0 if there is
    none.

    ``read`` is the stream after the layer's norm. If a norm of the head's own follows, the module ``norm``, the head's
    numbers are ``(made − less) · factor``; otherwise ``less`` is 0 and ``factor`` 1.
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
    """For queries, keys and values before any rotation; None if they are not made by columns of a matrix (latents)."""

    q: Projected | None
    k: Projected | None
    v: Projected | None


@dataclass(frozen=True)
class HeadProjections(Question[Projections]):
    """Asks how a head's vectors are made from the stream at these positions. Raises NoWeights."""

    request: CaptureRequest
    layer: int
    head: int
    positions: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class HeadMatrices:
    """The matrices of every head of a layer, float32; None if they are not columns of one matrix (latents).

    ``q`` multiplies the input of attention, ``o`` the head's output; ``k`` and ``v`` are per key/value head.
    """

    q: Float[Tensor, "heads d_model d_head"] | None
    k: Float[Tensor, "kv_heads d_model d_head"] | None
    v: Float[Tensor, "kv_heads d_model d_value"] | None
    o: Float[Tensor, "heads d_value d_model"] | None


@dataclass(frozen=True)
class LayerMatrices(Question[HeadMatrices]):
    """Asks for the matrices of a layer's heads, found from their outputs for the request's text. Raises NoWeights."""

    request: CaptureRequest
    layer: int
