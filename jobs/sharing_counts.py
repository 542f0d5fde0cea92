"""The effect of averaging keys and values, for every number of key/value heads: one forward each."""

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
    """The effect of averaging to ``kv_heads`` heads; NaN for undefined numbers."""

    kv_heads: int
    kl: float
    perplexity: float


class SharingRun(IncrementalTask[SharingPoint]):
    """A point for every number of key/value heads, the largest first."""

    def __init__(
        self, runner: Runner, before: Capture, counts: tuple[int, ...], name: str, position: int | None = None
    ) -> None:
        """``name`` identifies the session at the runner; ``position`` as in ``output_change``."""
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
    """Perplexity of the text; NaN for a bidirectional model or one that predicts no tokens."""
    return math.nan if looks_ahead(capture) else or_nan(lambda: perplexity(capture))


def or_nan(number: Callable[[], float]) -> float:
    """The number, or NaN for a model that predicts no tokens."""
    try:
        return number()
    except NoLogits:
        return math.nan
