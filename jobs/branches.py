"""The ways that a text went on: what determines one, and what was generated on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.film import Chosen, How, TokenChoice
from analysis.token_tree import Branch
from model_runner import Sampling, Token


@dataclass(frozen=True)
class BranchKey:
    """``steps`` tokens drawn with these settings, with those of ``forced``, (i, id), as generated token i; ``how``
    those were chosen.
    """

    sampling: Sampling
    forced: tuple[tuple[int, int], ...] = ()
    how: How = "forced"
    steps: int = 1


@dataclass(frozen=True)
class GenerationBranch:
    """One way the text goes on. ``forced`` gives the id of generated token i where it is not drawn.

    ``choices`` has one more than ``tokens``: the first is the moment after the prompt. ``prefill`` is how many tokens
    were read at once, and the seconds that took. ``ended``: the model ended the text. ``goal``: how many tokens it is
    to have, where an address says so.
    """

    sampling: Sampling
    forced: tuple[tuple[int, int], ...]
    forced_how: How
    choices: tuple[TokenChoice, ...]
    tokens: tuple[Token, ...] = ()
    prefill: tuple[int, float] | None = None
    ended: bool = False
    goal: int = 0

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(token.id for token in self.tokens)

    @property
    def log_probabilities(self) -> tuple[float, ...]:
        return tuple(one.log_probability for one in self.choices if one.log_probability is not None)

    @property
    def way(self) -> BranchKey:
        """What determines it."""
        steps = len(self.tokens) if self.ended else max(len(self.tokens), self.goal)
        return BranchKey(self.sampling, self.forced, self.forced_how, steps)

    def branch(self) -> Branch:
        """The way as a branch of the tree."""
        chosen: tuple[Chosen, ...] = tuple(one.how for one in self.choices if one.how != "prompt")
        return Branch(self.ids, self.log_probabilities, chosen, ended=self.ended)

    def to(self, steps: int) -> GenerationBranch:
        """At most so many tokens of it."""
        if len(self.tokens) <= steps:
            return replace(self, goal=min(self.goal, steps))
        return replace(self, choices=self.choices[: steps + 1], tokens=self.tokens[:steps], ended=False, goal=steps)
