"""Recall of a code hidden at several depths while fewer and fewer layers keep softmax: one forward each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.hybrid import counts, softmax_layers, stack
from analysis.needle import Needle, Trial, hidden, recalled
from jobs.needle import Hidden
from model_runner import Capture, CaptureRequest, Runner
from model_runner.errors import N_, EditNotPossible
from model_runner.job import Job

DEPTHS = (0.0, 0.5, 1.0)
CHARACTERS = 250  # characters of the haystack


@dataclass(frozen=True)
class RecallRun:
    """One forward: the layers that keep softmax, and the depth of the code."""

    softmax: tuple[int, ...]
    depth: float


@dataclass(frozen=True)
class Answered:
    """The share of the code's tokens that the model predicts as likeliest, and their mean probability."""

    asked: RecallRun
    share: float
    probability: float


@dataclass(frozen=True)
class RecallPoint:
    """Means over the finished depths: ``kept`` is the share of layers that keep softmax."""

    kept: float
    share: float
    probability: float


class Recall(Hidden[Answered]):
    """Recall of one stack chosen by hand, or of the whole curve; ``hay`` is the text around the ``code``.

    They are separate tasks, so that another stack by hand does not repeat the curve.
    """

    def __init__(
        self,
        runner: Runner,
        request: CaptureRequest,
        code: Needle,
        hay: str,
        substitute: tuple[str, Mapping[str, int], int],
        layers: Sequence[int],
        softmax: tuple[int, ...] | None,
        name: str,
    ) -> None:
        """``substitute`` is a variant with its parameters, and the block size of the softmax that is kept (0: whole
        text).

        ``softmax`` are the layers, of all ``layers``, that keep softmax; None means every share of them. ``name``
        identifies the session at the runner.
        """
        stacks = [softmax_layers(layers, count) for count in counts(len(layers))] if softmax is None else [softmax]
        self.n_layers, self.answer = len(layers), runner.ids_of(code.answer)
        self.steps = tuple(RecallRun(kept, depth) for kept in stacks for depth in DEPTHS)

        def submit(index: int) -> Job[Capture] | None:
            if index >= len(self.steps):
                return None
            step = self.steps[index]
            text = hidden(hay, Trial(code, step.depth, CHARACTERS))
            edits = stack(*substitute[:2], layers, step.softmax, substitute[2])
            asked = replace(request, text=text, chat=False, continuation=tuple(self.answer[:-1]), edits=edits)
            return runner.submit(asked, session=name)

        def read(index: int, capture: Capture) -> Answered:
            found = recalled(capture, self.answer)
            if found is None:
                raise EditNotPossible(reason=N_("the code is tokenized differently in the text than on its own"))
            return Answered(self.steps[index], found.share, found.probability)

        super().__init__(submit, read, running=True)

    def points(self) -> list[RecallPoint]:
        """A point for every stack so far, by increasing share of softmax."""
        groups: dict[tuple[int, ...], list[Answered]] = {}
        for one in self.items:
            groups.setdefault(one.asked.softmax, []).append(one)
        found = [
            RecallPoint(
                len(softmax) / self.n_layers,
                float(np.mean([one.share for one in group])),
                float(np.mean([one.probability for one in group])),
            )
            for softmax, group in groups.items()
        ]
        return sorted(found, key=lambda point: point.kept)
