"""What a decoder is given at each position and what it has to say there, forced and free."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from analysis.joined import apart
from model_runner.capture import Capture


@dataclass(frozen=True)
class Forced:
    """One position of a decoder. ``given`` is the token it reads there, ``wanted`` the id it then has to say.

    ``wanted`` is the next token of the target, at its end the one that ends a text; None where that is not known.
    ``probability`` is what the model gives to it, having read the target so far; ``own`` the id it would say itself.
    """

    given: int
    wanted: int | None
    probability: float
    own: int
    own_probability: float


def teacher_forced(capture: Capture, end: int | None) -> tuple[Forced, ...]:
    """Each position of a decoder's text: it is given the target one place later than it has to say it.

    ``end`` is the id that ends a text. In float64; one question to the model a position. Raises NoLogits.
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
    """The id that ends a text, as the text that is read ends with it; None where it ends with an ordinary token."""
    read = apart(capture.attention("cross")).keys
    return read[-1].id if read and read[-1].special else None


def loss(forced: tuple[Forced, ...]) -> float:
    """What training makes small: the mean of −ln p over the positions that have something to say, in nats."""
    known = [one.probability for one in forced if one.wanted is not None]
    if not known:
        return math.nan
    return sum(math.inf if p == 0 else -math.log(p) for p in known) / len(known)
