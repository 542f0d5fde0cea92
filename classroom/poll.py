"""A question to the class, its answers, and what the model answers: predict, then reveal.

The surprise of an answer is −log2 of the probability that the model gives it, in bits; that of the class is its mean
over all answers, the cross-entropy of the class's answers and the model's distribution (Shannon 1948, section 6).
What is measured or computed instead is no probability, and has no surprise.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from classroom.answers import AnswerKind
from classroom.frames import Refused, Vote

N_ = str  # marks a text for Babel without translating it here

CLOSED = N_("This question is closed.")
ALREADY = N_("This answer is already counted.")

TINY = 1e-9  # of a number: its digits in binary

Kind = Literal["next", "where", "ablate", "head", "number"]
Kept = dict[str, tuple[str, str]]  # who → answer and name


@dataclass(frozen=True, eq=False)
class ClassQuestion:
    """``answers`` is how it is answered, ``likeliest`` the values that the model would give, the first one first.

    ``probability`` is the model's for a value. Without one, ``measured`` is what the model has for it: of a head a
    metric, written in its ``unit``; of a number that is asked for, the true one, from which a right answer is at most
    ``near``. ``told`` is said at the reveal.

    ``changed`` says what the model is changed by. The file of the results names the ``model``, and the ``layer`` and
    ``head`` that are asked about; of an ablation the token's probability ``before`` and ``after`` it.
    """

    kind: Kind
    words: str
    text: str
    answers: AnswerKind
    likeliest: Sequence[str]
    probability: Callable[[str], float] | None = None
    measured: Callable[[str], float] | None = None
    unit: str = ""
    near: float = 0.0
    told: str = ""
    model: str = ""
    changed: str = ""
    layer: int | None = None
    head: int | None = None
    before: float = math.nan
    after: float = math.nan


@dataclass(frozen=True)
class Bar:
    """One answer: how many gave it in each vote, the model's probability of it, and that in bits of surprise.

    Or what is measured of it, how far an answered number is from it, and whether it is right: as near as the true one
    is shown. What there is not is NaN.
    """

    value: str
    label: str
    counts: tuple[int, ...]
    probability: float
    bits: float
    measured: float
    off: float
    right: bool


@dataclass
class Poll:
    """A question that is open, or was; ``votes`` are one dict for each time it was asked. Its room holds the lock."""

    question: ClassQuestion
    round: int
    named: bool
    state: Literal["open", "revealed"] = "open"
    votes: list[Kept] = field(default_factory=lambda: [Kept()])
    asked: float = field(default_factory=time.time)  # seconds since 1970, UTC
    taken: int = 0  # answers, in all votes, those that were changed later included
    step: str = ""  # of a lesson, which asks this before its page is shown

    def take(self, who: str, vote: Vote) -> tuple[str, str]:
        """Count this answer instead of an earlier one of the same student; its value and label. Raises Refused."""
        if self.state != "open" or vote.round != self.round:
            raise Refused(CLOSED)
        answers = self.question.answers
        value = answers.read(vote.answer)
        if value is None:
            raise Refused(answers.refusal)
        given = value, vote.name if self.named else ""
        if self.votes[-1].get(who) == given:
            raise Refused(ALREADY)
        self.votes[-1][who] = given
        self.taken += 1
        return value, answers.label(value)

    @property
    def number(self) -> int:
        """Its own in its room: the round in which it was asked first."""
        return self.round - len(self.votes) + 1

    def take_back(self, who: str) -> bool:
        """Count no answer of this student in the vote that is open; whether there was one."""
        return self.state == "open" and self.votes[-1].pop(who, None) is not None

    @property
    def answered(self) -> int:
        """How many, in the vote that is open."""
        return len(self.votes[-1])

    def bars(self, most: int = 8) -> list[Bar]:
        """The answers by how many gave them, and those that the model finds likeliest, ``most`` of each."""
        counts = [Counter(answer for answer, _ in kept.values()) for kept in self.votes]
        given = sorted(set().union(*counts), key=lambda value: (-sum(count[value] for count in counts), value))
        shown = self.question.answers.shown(given, self.question.likeliest, most)
        return [self.bar(value, tuple(count[value] for count in counts)) for value in shown]

    def every_bar(self) -> list[Bar]:
        """All answers that were given or could be tapped on, however many."""
        return self.bars(most=10**6)

    def given(self, vote: int) -> list[Bar]:
        """The answers of a vote, one for each student."""
        return [self.bar(answer) for answer, _ in self.votes[vote].values()]

    def surprise(self, vote: int) -> float | None:
        """Bits, the mean over the answers of a vote; infinite where the model rules one out, None without answers."""
        found = [bar.bits for bar in self.given(vote)]
        return sum(found) / len(found) if found else None

    def bar(self, value: str, counts: tuple[int, ...] = ()) -> Bar:
        """An answer, and what the model makes of it."""
        asked = self.question
        probability = math.nan if asked.probability is None else asked.probability(value)
        measured = math.nan if asked.measured is None else asked.measured(value)
        off = abs(float(value) - measured) if asked.kind == "number" else math.nan
        right = off <= asked.near + TINY * abs(measured)
        return Bar(value, asked.answers.label(value), counts, probability, bits(probability), measured, off, right)


def bits(probability: float) -> float:
    """−log2 p; infinite for 0, NaN for NaN."""
    if math.isnan(probability):
        return math.nan
    return -math.log2(probability) + 0.0 if probability > 0 else math.inf
