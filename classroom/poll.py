"""A question to the class, its answers, and the model's answer: predict, then reveal.

The surprisal of an answer is −log2 of the model's probability for it, in bits; the class's is its mean over all
answers, the cross-entropy between the class's answers and the model's distribution (Shannon 1948, section 6). Answers
to measured or computed quantities have no probability and no surprisal.
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

TINY = 1e-9  # relative error of a number in binary floating point

Kind = Literal["next", "where", "ablate", "head", "number"]
Kept = dict[str, tuple[str, str]]  # student → answer and name


@dataclass(frozen=True, eq=False)
class ClassQuestion:
    """``answers`` is the kind of answer, ``likeliest`` are the model's values, the best first.

    ``probability`` is the model's for a value. Without one, ``measured`` gives the quantity: for a head its metric, in
    ``unit``; for a typed number the true one, from which a correct answer differs by at most ``near``. ``told`` is
    shown at the reveal. ``changed`` describes the model's edits. The results file names the ``model``, and the
    ``layer`` and ``head`` of the question; for an ablation also the token's probability ``before`` and ``after`` it.
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
    """An answer: how many gave it in each vote, the model's probability for it, and its surprisal in bits.

    For measured quantities: the value, a typed number's distance from it, and whether it is correct to the digits
    shown. Fields that do not apply are NaN.
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
    """A question that is or was open; ``votes`` has one dict per round. Its room holds the lock."""

    question: ClassQuestion
    round: int
    named: bool
    state: Literal["open", "revealed"] = "open"
    votes: list[Kept] = field(default_factory=lambda: [Kept()])
    asked: float = field(default_factory=time.time)  # seconds since 1970, UTC
    taken: int = 0  # answers in all votes, including those changed later
    step: str = ""  # the lesson step that asks this before its page

    def take(self, who: str, vote: Vote) -> tuple[str, str]:
        """Count this answer, replacing the student's earlier one; returns its value and label. Raises Refused."""
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
        """The question's number in its room: the round in which it was first asked."""
        return self.round - len(self.votes) + 1

    def take_back(self, who: str) -> bool:
        """Remove this student's answer from the open vote; returns True if there was one."""
        return self.state == "open" and self.votes[-1].pop(who, None) is not None

    @property
    def answered(self) -> int:
        """Number of answers in the open vote."""
        return len(self.votes[-1])

    def bars(self, most: int = 8) -> list[Bar]:
        """The most frequent answers and those likeliest for the model, at most ``most`` of each."""
        counts = [Counter(answer for answer, _ in kept.values()) for kept in self.votes]
        given = sorted(set().union(*counts), key=lambda value: (-sum(count[value] for count in counts), value))
        shown = self.question.answers.shown(given, self.question.likeliest, most)
        return [self.bar(value, tuple(count[value] for count in counts)) for value in shown]

    def every_bar(self) -> list[Bar]:
        """All answers that were given or could be tapped."""
        return self.bars(most=10**6)

    def given(self, vote: int) -> list[Bar]:
        """The answers of a vote, one per student."""
        return [self.bar(answer) for answer, _ in self.votes[vote].values()]

    def surprise(self, vote: int) -> float | None:
        """Mean surprisal of a vote in bits; infinite if the model rules out an answer, None without answers."""
        found = [bar.bits for bar in self.given(vote)]
        return sum(found) / len(found) if found else None

    def bar(self, value: str, counts: tuple[int, ...] = ()) -> Bar:
        """An answer with the model's values for it."""
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
