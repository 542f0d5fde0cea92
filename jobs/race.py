"""The race: the same generation with and without the KV cache, one step of both per job."""

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

STARTS_ALONE = 200e6  # parameters; larger models race only on request


def begins_with(capture: Capture) -> int:
    """Number of tokens before the first step; for an encoder-decoder those given to the decoder.

    For audio models these include the special tokens that select the task.
    """
    if capture.attentions and capture.request.target is None and not capture.request.continuation:
        task = [token.special for token in decoder_side(capture).tokens if capture.request.sound is not None]
        return max(1, ([*task, False]).index(False))  # tokens that it generated itself are generated again
    return len(decoder_side(capture).tokens)


class RaceRun(IncrementalTask[RaceStep]):
    """A race in progress, and the multiply-adds of its steps by formula."""

    def __init__(self, runner: Runner, capture: Capture, length: int, name: str) -> None:
        """``name`` identifies the session at the runner."""
        start = begins_with(capture)
        self.length = min(length, runner.info.room - start)
        self.work: AttentionWork = attention_work(capture, start, self.length)
        self.request = capture.request.going_on(max_new_tokens=self.length, edits=(), attention=None)
        self._run, self._runner = new_run(), ref(runner)  # weak: a finished race keeps no model in memory
        super().__init__(
            lambda index: runner.submit(NextRaceStep(self.request, self._run, index), session=name),
            unchanged,
            running=runner.info.n_parameters <= STARTS_ALONE,
        )

    def close(self) -> None:
        """Release the worker and both lanes."""
        super().close()
        runner = self._runner()
        if runner is not None:
            with suppress(UserFacingError):  # the model was evicted or hangs, and both lanes with it
                runner.submit(EndRun(self._run))

    @property
    def seconds(self) -> tuple[float, float]:
        """Seconds so far, with and without the cache."""
        return sum(step.cached_seconds for step in self.items), sum(step.uncached_seconds for step in self.items)

    @property
    def differs_at(self) -> int | None:
        """The first step whose tokens differ."""
        return first_difference([step.cached.id for step in self.items], [step.uncached.id for step in self.items])
