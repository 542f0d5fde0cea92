"""A needle at several depths, then with its retrieval heads or as many others ablated: one forward each."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from analysis.needle import DEPTHS, Needle, Retrieval, Trial, hidden, retrieval, strongest_heads
from jobs.incremental_task import IncrementalTask, T
from model_runner import Capture, CaptureRequest, Runner
from model_runner.edits import ScaledHead
from model_runner.errors import N_, EditNotPossible, NeedleTooLong, SequenceTooLong, UserFacingError
from model_runner.job import Job

COUNTS = (1, 2, 4, 8)  # numbers of ablated heads


@dataclass(frozen=True)
class NeedleStep:
    """One forward with ``count`` heads ablated, the best retrievers or others."""

    depth: float
    ablated: Literal["none", "top", "random"] = "none"
    count: int = 0


@dataclass(frozen=True, eq=False)
class Done:
    """A step, the heads ablated in it, and the result for the needle."""

    step: NeedleStep
    heads: tuple[tuple[int, int], ...]
    found: Retrieval


def steps() -> tuple[NeedleStep, ...]:
    """The unedited model at every depth first, then each number of ablated heads."""
    ablated = (NeedleStep(depth, kind, count) for count in COUNTS for kind in ("top", "random") for depth in DEPTHS)
    return (*(NeedleStep(depth) for depth in DEPTHS), *ablated)


class Hidden(IncrementalTask[T]):
    """A task over generated texts; if one is too long, the error must not ask the reader to shorten a text."""

    @property
    def too_long(self) -> bool:
        """Return True if even the first text exceeds the model's context."""
        return isinstance(self.error, NeedleTooLong) and not self.items

    def _explained(self, error: UserFacingError) -> UserFacingError:
        return NeedleTooLong(**error.values) if isinstance(error, SequenceTooLong) else error


class NeedleRun(Hidden[Done]):
    """``request`` is the page's: its edits apply, and its text is the haystack."""

    def __init__(
        self, runner: Runner, request: CaptureRequest, hay: str, needle: Needle, characters: int, name: str
    ) -> None:
        """``name`` identifies the session at the runner."""
        self.steps, self.answer = steps(), runner.ids_of(needle.answer)
        self._heads: dict[int, tuple[tuple[int, int], ...]] = {}

        def submit(index: int) -> Job[Capture] | None:
            if index >= len(self.steps):
                return None
            step = self.steps[index]
            heads = self._heads[index] = self._ablated(index, step)
            text = hidden(hay, Trial(needle, step.depth, characters))
            edits = (*request.edits, *(ScaledHead(layer, head, 0.0) for layer, head in heads))
            asked = replace(request, text=text, chat=False, continuation=tuple(self.answer[:-1]), edits=edits)
            return runner.submit(asked, session=name)

        def read(index: int, capture: Capture) -> Done:
            found = retrieval(capture, self.answer)
            if found is None:
                raise EditNotPossible(reason=N_("the needle is tokenized differently in the text than on its own"))
            return Done(self.steps[index], self._heads[index], found)

        super().__init__(submit, read, running=True)

    @property
    def plain(self) -> list[Done]:
        """Results of the unedited model."""
        return [one for one in self.items if one.step.ablated == "none"]

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Means over the depths so far: each head's copy score and its attention to the needle; [layers, heads]."""
        return (
            np.mean([one.found.copied for one in self.plain], axis=0),
            np.mean([one.found.looked for one in self.plain], axis=0),
        )

    def _ablated(self, index: int, step: NeedleStep) -> tuple[tuple[int, int], ...]:
        """The best retrieval heads, or as many of the others, sampled for every depth."""
        if step.ablated == "none":
            return ()
        every = strongest_heads(*self.scores(), self.items[0].found.copied.size)
        count = min(step.count, len(every) // 2)
        if step.ablated == "top":
            return tuple(every[:count])
        return tuple(random.Random(index).sample(every[count:], count))
