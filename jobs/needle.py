"""A needle at several depths, then without the heads that fetched it and without as many others: a forward for each."""

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

COUNTS = (1, 2, 4, 8)  # heads that are ablated


@dataclass(frozen=True)
class NeedleStep:
    """One forward: ``count`` heads ablated, the best retrievers or others."""

    depth: float
    ablated: Literal["none", "top", "random"] = "none"
    count: int = 0


@dataclass(frozen=True, eq=False)
class Done:
    """A step, the heads that were ablated in it, and what became of the needle."""

    step: NeedleStep
    heads: tuple[tuple[int, int], ...]
    found: Retrieval


def steps() -> tuple[NeedleStep, ...]:
    """The model as it is at every depth first, then each number of heads."""
    ablated = (NeedleStep(depth, kind, count) for count in COUNTS for kind in ("top", "random") for depth in DEPTHS)
    return (*(NeedleStep(depth) for depth in DEPTHS), *ablated)


class Hidden(IncrementalTask[T]):
    """Of texts in which something is hidden: one that is too long is no text of the reader's, who cannot shorten it."""

    @property
    def too_long(self) -> bool:
        """Whether not even the first text fits the model."""
        return isinstance(self.error, NeedleTooLong) and not self.items

    def _explained(self, error: UserFacingError) -> UserFacingError:
        return NeedleTooLong(**error.values) if isinstance(error, SequenceTooLong) else error


class NeedleRun(Hidden[Done]):
    """``request`` is the page's: its edits stay, its text is the hay."""

    def __init__(
        self, runner: Runner, request: CaptureRequest, hay: str, needle: Needle, characters: int, name: str
    ) -> None:
        """``name`` stands for the session where it asks the runner."""
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
        """What the model does as it is."""
        return [one for one in self.items if one.step.ablated == "none"]

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean over the depths so far: what each head copied, and how hard it looked; [layers, heads]."""
        return (
            np.mean([one.found.copied for one in self.plain], axis=0),
            np.mean([one.found.looked for one in self.plain], axis=0),
        )

    def _ablated(self, index: int, step: NeedleStep) -> tuple[tuple[int, int], ...]:
        """The best retrievers, or as many heads that are none of the best, drawn anew for every depth."""
        if step.ablated == "none":
            return ()
        every = strongest_heads(*self.scores(), self.items[0].found.copied.size)
        count = min(step.count, len(every) // 2)
        if step.ablated == "top":
            return tuple(every[:count])
        return tuple(random.Random(index).sample(every[count:], count))
