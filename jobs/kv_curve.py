"""How far the prediction shifts for every window of a cache that forgets: one forward each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.joined import same_tokens
from analysis.kv_drop import CacheTrial, Moved, edits_of, kl_of_rows, trials
from jobs.incremental_task import IncrementalTask
from model_runner import Capture, Runner
from model_runner.job import Job
from model_runner.questions import NextLogits

if TYPE_CHECKING:
    from torch import Tensor


class DropCurve(IncrementalTask[Moved]):
    """The move for int8, and for every window without sinks and with them."""

    def __init__(self, runner: Runner, capture: Capture, sinks: int, name: str) -> None:
        """``name`` stands for the session where it asks the runner."""
        self.longest = len(capture.tokens)
        self.trials = trials(self.longest, sinks)
        self.sinks = sinks
        before = capture.logits(-1)

        def submit(index: int) -> Job[Tensor] | None:
            if index >= len(self.trials):
                return None
            changed = same_tokens(capture, edits_of(capture, self.trials[index]))
            return runner.submit(NextLogits(changed), session=name)

        super().__init__(
            submit, lambda index, after: Moved(self.trials[index], kl_of_rows(before, after)), running=True
        )

    def of(self, trial: CacheTrial) -> float | None:
        """The KL of this trial, if it was tried."""
        return next((one.kl for one in self.items if one.trial == trial), None)
