"""What can be asked of a capture so that few numbers are answered: no tensors, and no vocabulary of logits."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from model_runner.question import Question
from model_runner.request import CaptureRequest
from model_runner.verification import Check


@dataclass(frozen=True)
class VerifyLayer(Question[Check]):
    """:meth:`model_runner.capture.Capture.verify` of the request's capture, where its tensors are. Raises NoWeights."""

    request: CaptureRequest
    layer: int


@dataclass(frozen=True)
class Surprisals(Question[Tensor]):
    """−ln p of each token of the request's text but the first, in nats, float32. Raises NoLogits."""

    request: CaptureRequest


@dataclass(frozen=True, eq=False)
class LikelyTokens:
    """The tokens with the largest logits at a position, the largest first; ``lse`` is the log-sum-exp of all logits."""

    ids: Int[Tensor, "top"]
    logits: Float[Tensor, "top"]
    lse: float


@dataclass(frozen=True)
class TopLogits(Question[LikelyTokens]):
    """The ``top`` tokens that the model expects after a position of the text. Raises NoLogits, NoSuchPlace."""

    request: CaptureRequest
    position: int
    top: int
