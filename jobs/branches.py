"""Branches of a generation: what determines one, and what was generated on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.film import Chosen, How, TokenChoice
from analysis.token_tree import Branch
from model_runner import Sampling, Token


@dataclass(frozen=True)
class BranchKey:
    """``steps`` tokens drawn with these settings; ``forced`` (i, id) fixes generated token i, and ``how`` says how it
    was chosen.
    """

    sampling: Sampling
    forced: tuple[tuple[int, int], ...] = ()
    how: How = "forced"
    steps: int = 1


@dataclass(frozen=True)
class GenerationBranch:
    """One continuation of the text. ``forced`` gives the id of generated token i where it is not drawn.

    ``choices`` has one more entry than ``tokens``: the first is the state after the prompt. ``prefill`` has the number
    of tokens read at once and the seconds that took. ``ended``: the model ended the text. ``goal``: the number of
    tokens to restore, from a URL.
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
        """The key that determines this branch."""
        steps = len(self.tokens) if self.ended else max(len(self.tokens), self.goal)
        return BranchKey(self.sampling, self.forced, self.forced_how, steps)

    def branch(self) -> Branch:
        """This branch for the tree."""
        chosen: tuple[Chosen, ...] = tuple(one.how for one in self.choices if one.how != "prompt")
        return Branch(self.ids, self.log_probabilities, chosen, ended=self.ended)

    def to(self, steps: int) -> GenerationBranch:
        """This branch cut to at most so many tokens."""
        if len(self.tokens) <= steps:
            return replace(self, goal=min(self.goal, steps))
        return replace(self, choices=self.choices[: steps + 1], tokens=self.tokens[:steps], ended=False, goal=steps)
