"""One text read by a model of each kind: what is kept of each when the next one is loaded in its place."""

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
COUNT = 5  # of the likeliest tokens


@dataclass(frozen=True)
class Guess:
    """The likeliest tokens at a position, and the probability of all others together."""

    position: int
    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    rest: float


@dataclass(frozen=True)
class DecodedPosition:
    """A position of a decoder in words; ``free`` is what it says there when nobody forces it, "" beyond its end.

    A probability is NaN where there is no such token.
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
    """What a model made of the text; ``capture`` asks no model any more, that of two texts is its decoder's.

    ``guess`` is None of an encoder–decoder and of a model that predicts nothing; ``forced`` and ``free`` (what it
    writes by itself) are an encoder–decoder's, and so is ``other``, the same with one word put in its place that it
    held for the next likeliest where it was least sure; "" where that cannot be written.
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
        """About what it takes memory for: the rest is small."""
        return (self.capture,)


def read_by(runner: Runner, request: CaptureRequest) -> ReadBy:
    """The text through this model; of an encoder–decoder, with the request's target or what it writes. RunnerError."""
    return _two(runner, request) if runner.info.attentions else _one(runner, request)


def with_a_model(get: Callable[[], Runner], ask: Callable[[Runner], T]) -> T:
    """What ``ask`` gives of a model that others may have had given up while it was asked: then it is got again."""
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
    """What the model wrote by itself, with the next likeliest word where it was least sure, and its own words after it.

    "" where that word has no letters of its own, as the end of a text or a part of a character.
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
