"""Greedy continuations of a text under two requests, alternating token by token, without a cache.

Each step reads the whole text again, because a variant may depend on all of it; cached keys could give other tokens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jobs.incremental_task import IncrementalTask
from model_runner import CaptureRequest, Runner
from model_runner.job import Job
from model_runner.questions import NextLogits

if TYPE_CHECKING:
    from torch import Tensor

TOKENS = 8


class GreedyPair(IncrementalTask[int]):
    """Items are token ids, the first request's and the second's alternately."""

    def __init__(self, runner: Runner, before: CaptureRequest, after: CaptureRequest, count: int, name: str) -> None:
        """``count`` tokens for each request; ``name`` identifies the session at the runner."""
        self.count = count

        def submit(index: int) -> Job[Tensor] | None:
            if index >= 2 * count:
                return None
            request = (before, after)[index % 2]
            said = (*request.continuation, *self.of(index % 2))
            return runner.submit(NextLogits(replace(request, continuation=said)), session=name)

        def read(_index: int, logits: Tensor) -> int:
            return int(logits.argmax())

        super().__init__(submit, read, running=True)

    def of(self, side: int) -> tuple[int, ...]:
        """The tokens so far for the first request (0) or the second (1)."""
        return tuple(self.items[side::2])
