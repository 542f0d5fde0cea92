"""What averaging keys and values leaves, for every number of key/value heads: a forward of the model's for each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from analysis.comparison import output_change
from analysis.mask_effect import looks_ahead, perplexity
from jobs.incremental_task import IncrementalTask
from model_runner import Capture, Runner
from model_runner.edits import SharedKeys
from model_runner.errors import NoLogits
from model_runner.job import Job


@dataclass(frozen=True)
class SharingPoint:
    """What averaging to ``kv_heads`` leaves; NaN where the model has no such number."""

    kv_heads: int
    kl: float
    perplexity: float


class SharingRun(IncrementalTask[SharingPoint]):
    """A point for every number of key/value heads, most heads first."""

    def __init__(
        self, runner: Runner, before: Capture, counts: tuple[int, ...], name: str, position: int | None = None
    ) -> None:
        """``name`` stands for the session where it asks the runner; ``position`` as of ``output_change``."""
        self.counts = counts

        def submit(index: int) -> Job[Capture] | None:
            if index >= len(counts):
                return None
            edits = (*before.request.edits, SharedKeys(counts[index]))
            return runner.submit(replace(before.request, edits=edits), session=name)

        def read(index: int, after: Capture) -> SharingPoint:
            return SharingPoint(
                counts[index], or_nan(lambda: output_change(before, after, position).kl), perplexity_of(after)
            )

        super().__init__(submit, read, running=True)


def perplexity_of(capture: Capture) -> float:
    """Perplexity of the text; NaN for a model that sees what it would have to predict, or predicts nothing."""
    return math.nan if looks_ahead(capture) else or_nan(lambda: perplexity(capture))


def or_nan(number: Callable[[], float]) -> float:
    """The number, or NaN of a model that predicts nothing."""
    try:
        return number()
    except NoLogits:
        return math.nan
