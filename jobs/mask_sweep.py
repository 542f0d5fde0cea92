"""Perplexity against window size, for mask patterns of similar cost: one job on the model per point."""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.mask_effect import perplexity
from analysis.mask_sweep import SWEPT, Values, matched, sizes
from attention.patterns import BY_NAME, full_cells
from jobs.incremental_task import IncrementalTask
from model_runner import Capture, CaptureRequest, Runner
from model_runner.edits import Masked
from model_runner.job import Job


@dataclass(frozen=True)
class MaskTrial:
    """A pattern that keeps about as many cells as a window of this ``size``."""

    pattern: str
    size: int
    values: Values


@dataclass(frozen=True)
class SweepPoint:
    """A trial with the share of causal cells that it keeps and its perplexity."""

    trial: MaskTrial
    share: float
    perplexity: float


def trials_of(n_tokens: int) -> tuple[MaskTrial, ...]:
    """Every point of the chart, size by size, so that all curves grow together."""
    return tuple(
        MaskTrial(name, size, values)
        for size in reversed(sizes(n_tokens))
        for name in SWEPT
        if (values := matched(name, n_tokens, size)) is not None
    )


class Sweep(IncrementalTask[SweepPoint]):
    """One point per trial."""

    def __init__(self, runner: Runner, request: CaptureRequest, n_tokens: int, name: str) -> None:
        """``name`` identifies the session at the runner."""
        trials = self.trials = trials_of(n_tokens)
        self.n_tokens = n_tokens

        def submit(index: int) -> Job[Capture] | None:
            if index >= len(trials):
                return None
            edits = (Masked(trials[index].pattern, trials[index].values),)
            return runner.submit(replace(request, edits=edits), session=name)

        def read(index: int, after: Capture) -> SweepPoint:
            trial = trials[index]
            cells = BY_NAME[trial.pattern].kept_cells(n_tokens, dict(trial.values))
            return SweepPoint(trial, cells / full_cells(n_tokens), perplexity(after))

        super().__init__(submit, read, running=True)
