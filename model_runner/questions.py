"""Questions to a runner other than captures: every question is a value, with the type of its answer.

A question that names a request is about the capture of that request, which the runner has or makes. ``run`` names a
growing text on the runner, one token per question; each name is for one such text.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from model_runner.beams import BeamSearch
from model_runner.errors import N_, BeamWidthInvalid, EditNotPossible, RunnerError
from model_runner.kv import CachedLayer, RaceStep
from model_runner.question import Question
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.step import Step

WIDTHS = (2, 5)  # least and greatest width of a beam search; 1 would be greedy decoding


@dataclass(frozen=True)
class NextToken(Question[Step]):
    """Token number ``index`` of this generation; the first reads the text. Raises Cancelled if the run has ended."""

    request: GenerateRequest
    run: str
    index: int


@dataclass(frozen=True)
class NextRaceStep(Question[RaceStep | None]):
    """One more greedy token, with and without a KV cache; None if there is no room for it."""

    request: GenerateRequest
    run: str
    index: int


@dataclass(frozen=True)
class EndRun(Question[None]):
    """Ends this run, and releases its memory."""

    run: str


@dataclass(frozen=True)
class Beams(Question[BeamSearch]):
    """The best continuations by beam search, and the steps of the search.

    Raises BeamWidthInvalid outside 2 to 5, and EditNotPossible for a request with edits.
    """

    request: GenerateRequest
    width: int

    def __post_init__(self) -> None:
        least, most = WIDTHS
        if not least <= self.width <= most:
            raise BeamWidthInvalid(width=self.width, least=least, most=most)
        if self.request.edits:
            raise EditNotPossible(reason=N_("beam search runs on the unmodified model only"))


@dataclass(frozen=True, eq=False)
class HeadAnswers:
    """Each head of a layer, for one token after the text; None where unavailable, with the reason in ``problems``.

    ``ablated``: the change of its log-probability (nats) when the head outputs zero. ``attributed``: what the head adds
    directly to the token's logit, minus what it adds to the mean logit. ``written``: the norm of the vector that the
    head adds to the stream at the last position. ``ffn``: like ``ablated``, for the layer's feed-forward part; None if
    it cannot be separated.
    """

    layer: int
    n_heads: int
    ablated: Float[Tensor, "heads"] | None
    attributed: Float[Tensor, "heads"] | None
    written: Float[Tensor, "heads"] | None
    problems: tuple[RunnerError, ...] = ()
    ffn: float | None = None


@dataclass(frozen=True)
class WhichHeads(Question[HeadAnswers]):
    """Which heads of a layer matter for the token with id ``target`` after the text; for a classifier, for a class.

    Everything about tokens then applies to classes; if a class's score is a plain number, ``ablated`` is in its unit.
    With ``against``, another token, ``ablated`` and ``attributed`` refer to the target's logit minus the other's.

    Raises NoWeights, and NoSuchPlace for a token that the model does not have.
    """

    request: CaptureRequest
    layer: int
    target: int
    against: int | None = None


@dataclass(frozen=True)
class PatchStream(Question[Tensor]):
    """Change of the logit difference of two tokens when one position's stream entering the layer is the source's.

    One number per position. Raises EditNotPossible for a source of another length, or for edits.
    """

    request: CaptureRequest
    source: CaptureRequest
    layer: int
    tokens: tuple[int, int]


@dataclass(frozen=True)
class PatchHeads(Question[Tensor]):
    """The same for a head's output at one position; ``head`` None: all heads of the layer together."""

    request: CaptureRequest
    source: CaptureRequest
    layer: int
    head: int | None
    tokens: tuple[int, int]


@dataclass(frozen=True)
class PatchFfn(Question[Tensor]):
    """The same for what the layer's feed-forward part adds at one position.

    Raises NotSeparable if it cannot be separated, or if the layer's module runs several times.
    """

    request: CaptureRequest
    source: CaptureRequest
    layer: int
    tokens: tuple[int, int]


@dataclass(frozen=True)
class MeanStream(Question[Tensor]):
    """Change of the log-probability (nats) of token ``target`` when one position's stream entering the layer is the
    mean over the text.

    One number per position. Raises EditNotPossible for edits, NoSuchPlace.
    """

    request: CaptureRequest
    layer: int
    target: int


@dataclass(frozen=True)
class CacheLayers(Question[tuple[CachedLayer, ...]]):
    """The contents of transformers' own cache for each layer after the text."""

    request: CaptureRequest


@dataclass(frozen=True)
class NextLogits(Question[Tensor]):
    """The logits after the text, float32; nothing else is kept."""

    request: CaptureRequest


@dataclass(frozen=True)
class LearnedPositions(Question[Tensor | None]):
    """The learned vector of every position from 0 on; None if the model learned none."""
