"""A question to the class, its answers, and what the model answers: predict, then reveal.

The surprise of an answer is −log2 of the probability that the model gives it, in bits; that of the class is its mean
over all answers, the cross-entropy of the class's answers and the model's distribution (Shannon 1948, section 6).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from classroom.frames import Refused, Vote
from classroom.vocabulary import Vocabulary

N_ = str  # marks a text for Babel without translating it here

CLOSED = N_("This question is closed.")
NO_ANSWER = N_("This is no answer to the question.")
ALREADY = N_("This answer is already counted.")

Kind = Literal["next", "where", "ablate"]
Kept = dict[str, tuple[str, str]]  # who → answer and name


@dataclass(frozen=True, eq=False)
class Question:
    """``options`` are what is tapped on, value and label; where ``vocabulary`` is given, tokens are typed instead.

    ``probability`` is the model's for a value, ``likeliest`` the values that it would give, the first one first.
    ``told`` is said at the reveal.
    """

    kind: Kind
    words: str
    text: str
    options: Sequence[tuple[str, str]]
    probability: Callable[[str], float]
    likeliest: Sequence[str]
    told: str = ""
    vocabulary: Vocabulary | None = None

    def label(self, value: str) -> str | None:
        """What an answer is called; None for what is none."""
        if self.vocabulary is not None:
            return self.vocabulary.label(value)
        return next((label for one, label in self.options if one == value), None)


@dataclass(frozen=True)
class Bar:
    """One answer: how many gave it in each vote, the model's probability of it, and that in bits of surprise."""

    value: str
    label: str
    counts: tuple[int, ...]
    probability: float
    bits: float


@dataclass
class Poll:
    """A question that is open, or was; ``votes`` are one dict for each time it was asked. Its room holds the lock."""

    question: Question
    round: int
    named: bool
    state: Literal["open", "revealed"] = "open"
    votes: list[Kept] = field(default_factory=lambda: [Kept()])

    def take(self, who: str, vote: Vote) -> str:
        """Count this answer instead of an earlier one of the same student; its label. Raises Refused."""
        if self.state != "open" or vote.round != self.round:
            raise Refused(CLOSED)
        label = self.question.label(vote.answer)
        if label is None:
            raise Refused(NO_ANSWER)
        given = vote.answer, vote.name if self.named else ""
        if self.votes[-1].get(who) == given:
            raise Refused(ALREADY)
        self.votes[-1][who] = given
        return label

    @property
    def answered(self) -> int:
        """How many, in the vote that is open."""
        return len(self.votes[-1])

    def bars(self, most: int = 8) -> list[Bar]:
        """The answers by how many gave them, and those that the model finds likeliest, ``most`` of each."""
        counts = [Counter(answer for answer, _ in kept.values()) for kept in self.votes]
        given = sorted(set().union(*counts), key=lambda value: (-sum(count[value] for count in counts), value))
        if self.question.vocabulary is None:
            shown = [value for value, _ in self.question.options]
            shown = [value for value in shown if value in given or value in self.question.likeliest[:most]]
        else:
            shown = list(dict.fromkeys([*given[:most], *self.question.likeliest[:most]]))
        return [self.bar(value, tuple(count[value] for count in counts)) for value in shown]

    def every_bar(self) -> list[Bar]:
        """All answers that were given or could be tapped on, however many."""
        return self.bars(most=10**6)

    def surprise(self, vote: int) -> float | None:
        """Bits, the mean over the answers of a vote; infinite where the model rules one out, None without answers."""
        answers = [answer for answer, _ in self.votes[vote].values()]
        if not answers:
            return None
        return sum(bits(self.question.probability(answer)) for answer in answers) / len(answers)

    def bar(self, value: str, counts: tuple[int, ...] = ()) -> Bar:
        """An answer, and what the model makes of it."""
        probability = self.question.probability(value)
        return Bar(value, self.question.label(value) or value, counts, probability, bits(probability))


def bits(probability: float) -> float:
    """−log2 p; infinite for 0."""
    return -math.log2(probability) + 0.0 if probability > 0 else math.inf
