"""One text read by a model of each kind; small results are kept when the next model is loaded."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from analysis.away import away
from analysis.families import FamilyMask, Kind, family_mask
from analysis.mask_effect import looks_ahead
from analysis.next_token import next_tokens
from analysis.opening import opening_query
from analysis.teacher_forcing import Forced, end_of, teacher_forced
from model_runner import Capture, CaptureRequest, Runner
from model_runner.errors import Cancelled, NoLogits
from model_runner.runner import ModelInfo

T = TypeVar("T")

KINDS: tuple[Kind, ...] = ("causal", "prefix", "encoder", "two")
MODEL_OF: dict[Kind, str] = {"causal": "default", "prefix": "default", "encoder": "encoder", "two": "translator"}
COUNT = 5  # likeliest tokens that are kept


@dataclass(frozen=True)
class Guess:
    """The likeliest tokens at a position, and the remaining probability."""

    position: int
    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    rest: float


@dataclass(frozen=True)
class DecodedPosition:
    """A decoder position in words; ``free`` is the token there in free generation, empty beyond its end.

    A probability is NaN if there is no such token.
    """

    given: str
    wanted: str
    probability: float
    own: str
    own_probability: float
    free: str
    free_probability: float


@dataclass(frozen=True, eq=False)
class ReadBy:
    """What a model made of the text; ``capture`` no longer refers to the model, and for two texts it is the decoder's.

    ``guess`` is None for encoder-decoder models and for models that predict nothing. ``forced``, ``free`` (the model's
    own output) and ``other`` are for encoder-decoder models. ``other`` is the output with the least certain word
    replaced by the second likeliest, or empty if that cannot be written.
    """

    info: ModelInfo
    capture: Capture
    mask: FamilyMask
    guess: Guess | None = None
    forced: tuple[Forced, ...] = ()
    said: tuple[DecodedPosition, ...] = ()
    free: str = ""
    other: str = ""

    @property
    def parts(self) -> tuple[Capture]:
        """What occupies memory; the rest is small."""
        return (self.capture,)


def read_by(runner: Runner, request: CaptureRequest) -> ReadBy:
    """Capture the text with this model; an encoder-decoder's target is the request's or what it writes. Raises
    RunnerError.
    """
    return _two(runner, request) if runner.info.attentions else _one(runner, request)


def with_a_model(get: Callable[[], Runner], ask: Callable[[Runner], T]) -> T:
    """Call ``ask`` with the model; if others had it evicted meanwhile, load it again and retry."""
    try:
        return ask(get())
    except Cancelled:
        return ask(get())


def _one(runner: Runner, request: CaptureRequest) -> ReadBy:
    capture = runner.capture(request)
    position = opening_query(capture) if looks_ahead(capture) and not request.edits else len(capture.tokens) - 1
    try:
        found = next_tokens(capture, position, count=COUNT)
    except NoLogits:
        return ReadBy(runner.info, away(capture), family_mask(capture))
    labels = tuple(runner.token_text(token) for token in found.ids)
    guess = Guess(position, labels, found.probabilities, found.rest)
    return ReadBy(runner.info, away(capture), family_mask(capture), guess)


def _two(runner: Runner, request: CaptureRequest) -> ReadBy:
    free = runner.capture(replace(request, target=None, attention="decoder"))
    end = end_of(free)
    freely = teacher_forced(free, end)
    capture, forced = free, freely
    if request.target:
        capture = runner.capture(replace(request, attention="decoder"))
        forced = teacher_forced(capture, end)
    said = tuple(_said(runner, one, freely[i] if i < len(freely) else None) for i, one in enumerate(forced))
    other = other_text(runner, free, freely)
    mask = family_mask(capture)
    return ReadBy(runner.info, away(capture), mask, forced=forced, said=said, free=free.text, other=other)


def other_text(runner: Runner, free: Capture, freely: tuple[Forced, ...]) -> str:
    """The model's own output with its least certain word replaced by the second likeliest and its continuation from
    there.

    Empty if that token has no letters of its own, as the end of a text or part of a character.
    """
    written = [i for i, one in enumerate(freely[:-1]) if one.own == one.wanted]
    if not written:
        return ""
    position = min(written, key=lambda i: freely[i].probability)
    second = int(free.logits(position).double().topk(2).indices[1])
    word, replaced = runner.token_text(second).replace("·", " "), free.tokens[position + 1]
    if not any(letter.isalnum() for letter in word) or "⟨" in word:
        return ""
    return (free.text[: replaced.start] + word + free.text[replaced.end :]).strip()


def _said(runner: Runner, one: Forced, freely: Forced | None) -> DecodedPosition:
    name = runner.token_text
    return DecodedPosition(
        given=name(one.given),
        wanted="" if one.wanted is None else name(one.wanted),
        probability=one.probability,
        own=name(one.own),
        own_probability=one.own_probability,
        free="" if freely is None else name(freely.own),
        free_probability=math.nan if freely is None else freely.own_probability,
    )
