"""What a runner can be asked beside a capture: every question a value, with its answer.

A question that names a request is about the capture of that request, which the runner has or makes. ``run`` names a
text that grows at the runner, a token a question; one name is for one such text.
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

WIDTHS = (2, 5)  # of a beam search, from and to; 1 would be greedy decoding


@dataclass(frozen=True)
class NextToken(Question[Step]):
    """Token number ``index`` of this generation; the first reads the text. Raises Cancelled where the run has ended."""

    request: GenerateRequest
    run: str
    index: int


@dataclass(frozen=True)
class NextRaceStep(Question[RaceStep | None]):
    """One greedy token more with a cache of keys and values, and without; None when there is no room for it."""

    request: GenerateRequest
    run: str
    index: int


@dataclass(frozen=True)
class EndRun(Question[None]):
    """Nobody asks for more of this run: its memory is let go."""

    run: str


@dataclass(frozen=True)
class Beams(Question[BeamSearch]):
    """The best continuations by beam search, and how it came to them.

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
    """Each head of a layer, for one token after the text; None where the model does not say, with why in ``problems``.

    ``ablated``: how its log-probability (nats) changes when the head passes on nothing. ``attributed``: what the head
    adds to its logit on the direct path, less what it adds to the mean logit. ``written``: the length of the vector
    that the head adds to the stream at the last position. ``ffn``: as ``ablated``, when the layer's feed-forward part
    adds nothing; None where that is not told apart.
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
    """Which heads of a layer matter for the token with the id ``target`` after the text; of a classifier, for a class.

    What is said of tokens then holds for classes: of one whose score is a number, ``ablated`` is in that score's own
    unit. With ``against``, another token, ``ablated`` and ``attributed`` are of the target's logit less the other's.

    Raises NoWeights, and NoSuchPlace for a token that the model does not have.
    """

    request: CaptureRequest
    layer: int
    target: int
    against: int | None = None


@dataclass(frozen=True)
class PatchStream(Question[Tensor]):
    """Change of the logit difference of two tokens when one position's stream entering the layer is the source's.

    One number a position. Raises EditNotPossible for a source of another length, or for edits.
    """

    request: CaptureRequest
    source: CaptureRequest
    layer: int
    tokens: tuple[int, int]


@dataclass(frozen=True)
class PatchHeads(Question[Tensor]):
    """The same for what a head passes on at one position; ``head`` None: all heads of the layer together."""

    request: CaptureRequest
    source: CaptureRequest
    layer: int
    head: int | None
    tokens: tuple[int, int]


@dataclass(frozen=True)
class PatchFfn(Question[Tensor]):
    """The same for what the feed-forward part of a layer adds at one position.

    Raises NotSeparable where that is not told apart, or where the layer's module runs several times.
    """

    request: CaptureRequest
    source: CaptureRequest
    layer: int
    tokens: tuple[int, int]


@dataclass(frozen=True)
class MeanStream(Question[Tensor]):
    """Change of the log-probability (nats) of the token ``target`` after the text when one position's stream entering
    the layer is the mean over the text. One number a position. Raises EditNotPossible for edits, NoSuchPlace.
    """

    request: CaptureRequest
    layer: int
    target: int


@dataclass(frozen=True)
class CacheLayers(Question[tuple[CachedLayer, ...]]):
    """What transformers' own cache holds of each layer once it has read the text."""

    request: CaptureRequest


@dataclass(frozen=True)
class NextLogits(Question[Tensor]):
    """The logits after the text, float32, and nothing else kept."""

    request: CaptureRequest


@dataclass(frozen=True)
class LearnedPositions(Question[Tensor | None]):
    """The vector of every position from 0 on that the model learned; None where it learned none."""
