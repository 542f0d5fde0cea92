"""The race: the same continuation with and without the cache, a step of both a job, pulled while somebody looks."""

from __future__ import annotations

from contextlib import suppress
from weakref import ref

from analysis.joined import decoder_side
from analysis.kv_drop import first_difference
from analysis.kv_work import AttentionWork, attention_work
from jobs.incremental_task import IncrementalTask, unchanged
from model_runner import Capture, Runner
from model_runner.errors import UserFacingError
from model_runner.growing import new_run
from model_runner.kv import RaceStep
from model_runner.questions import EndRun, NextRaceStep

STARTS_ALONE = 200e6  # parameters; a larger model races when it is told to


def begins_with(capture: Capture) -> int:
    """How many tokens there are before the first step: of an encoder–decoder those that its decoder was given.

    Of a sound these are also the special tokens that tell it its task.
    """
    if capture.attentions and capture.request.target is None and not capture.request.continuation:
        task = [token.special for token in decoder_side(capture).tokens if capture.request.sound is not None]
        return max(1, ([*task, False]).index(False))  # what it wrote by itself it writes again
    return len(decoder_side(capture).tokens)


class RaceRun(IncrementalTask[RaceStep]):
    """A race under way, and the multiply-adds of its steps by formula."""

    def __init__(self, runner: Runner, capture: Capture, length: int, name: str) -> None:
        """``name`` stands for the session where it asks the runner."""
        start = begins_with(capture)
        self.length = min(length, runner.info.room - start)
        self.work: AttentionWork = attention_work(capture, start, self.length)
        self.request = capture.request.going_on(max_new_tokens=self.length, edits=(), attention=None)
        self._run, self._runner = new_run(), ref(runner)  # weak: a race that is done keeps no model in memory
        super().__init__(
            lambda index: runner.submit(NextRaceStep(self.request, self._run, index), session=name),
            unchanged,
            running=runner.info.n_parameters <= STARTS_ALONE,
        )

    def close(self) -> None:
        """Let the worker and both lanes go."""
        super().close()
        runner = self._runner()
        if runner is not None:
            with suppress(UserFacingError):  # the model was given up or hangs, and both lanes with it
                runner.submit(EndRun(self._run))

    @property
    def seconds(self) -> tuple[float, float]:
        """So far, with the cache and without."""
        return sum(step.cached_seconds for step in self.items), sum(step.uncached_seconds for step in self.items)

    @property
    def differs_at(self) -> int | None:
        """The first step whose tokens differ."""
        return first_difference([step.cached.id for step in self.items], [step.uncached.id for step in self.items])
