"""Questions about a capture with small answers: no tensors, and no logits over the vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from model_runner.question import Question
from model_runner.request import CaptureRequest
from model_runner.verification import Check


@dataclass(frozen=True)
class VerifyLayer(Question[Check]):
    """Runs :meth:`model_runner.capture.Capture.verify` on the request's capture, where its tensors are.

    Raises NoWeights.
    """

    request: CaptureRequest
    layer: int


@dataclass(frozen=True)
class Surprisals(Question[Tensor]):
    """−ln p of each token of the request's text except the first, in nats, float32. Raises NoLogits."""

    request: CaptureRequest


@dataclass(frozen=True, eq=False)
class LikelyTokens:
    """The tokens with the largest logits at a position, in descending order; ``lse`` is that of all logits."""

    ids: Int[Tensor, "top"]
    logits: Float[Tensor, "top"]
    lse: float


@dataclass(frozen=True)
class TopLogits(Question[LikelyTokens]):
    """The ``top`` most likely tokens after a position of the text. Raises NoLogits, NoSuchPlace."""

    request: CaptureRequest
    position: int
    top: int
