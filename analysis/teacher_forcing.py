"""A decoder's input and target at each position, with teacher forcing and without."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from analysis.joined import apart
from model_runner.capture import Capture


@dataclass(frozen=True)
class Forced:
    """One position of a decoder. ``given`` is its input token, ``wanted`` the target id.

    ``wanted`` is the next token, at the end the one that ends a text; None if unknown. ``probability`` is the model's,
    given the target so far; ``own`` is its likeliest id.
    """

    given: int
    wanted: int | None
    probability: float
    own: int
    own_probability: float


def teacher_forced(capture: Capture, end: int | None) -> tuple[Forced, ...]:
    """Each position of a decoder's text, whose input is the target shifted by one.

    ``end`` is the id that ends a text. In float64; one question to the model per position. Raises NoLogits.
    """
    ids = [token.id for token in capture.tokens]
    found: list[Forced] = []
    for position, (given, wanted) in enumerate(zip(ids, [*ids[1:], end], strict=True)):
        probabilities = torch.softmax(capture.logits(position).double(), dim=-1)
        own = int(probabilities.argmax())
        said = math.nan if wanted is None else float(probabilities[wanted])
        found.append(Forced(given, wanted, said, own, float(probabilities[own])))
    return tuple(found)


def end_of(capture: Capture) -> int | None:
    """The id that ends a text, taken from the end of the source; None if that is an ordinary token."""
    read = apart(capture.attention("cross")).keys
    return read[-1].id if read and read[-1].special else None


def loss(forced: tuple[Forced, ...]) -> float:
    """The training loss: the mean of −ln p over the positions with a target, in nats."""
    known = [one.probability for one in forced if one.wanted is not None]
    if not known:
        return math.nan
    return sum(math.inf if p == 0 else -math.log(p) for p in known) / len(known)
