"""Every head of a long text, computed incrementally in blocks; finished blocks are kept."""

from __future__ import annotations

from analysis.long_blocks import BlockRows, MapBlock, block, blocks_of
from jobs.incremental_task import IncrementalTask, unchanged
from model_runner import Capture
from model_runner.job import Job


class _Now:
    """A job that computes its block when it is waited for, on the caller's thread, since a block is short."""

    def __init__(self, capture: Capture, rows: BlockRows) -> None:
        self._capture, self._rows = capture, rows
        self._made: MapBlock | None = None

    def wait(self, seconds: float) -> bool:
        self._made = self._made or block(self._capture, self._rows)
        return True

    def result(self) -> MapBlock | None:
        return self._made

    @property
    def ahead(self) -> int:
        """Always 0: it waits for no other job."""
        return 0

    def cancel(self) -> None:
        """Do nothing: no work continues between two refreshes."""


class LongBlocks(IncrementalTask[MapBlock]):
    """One block is some rows of a layer; the layers follow one another."""

    def __init__(self, capture: Capture) -> None:
        rows = self.rows = blocks_of(capture)

        def submit(index: int) -> Job[MapBlock | None] | None:
            return _Now(capture, rows[index]) if index < len(rows) else None

        super().__init__(submit, unchanged, running=True)
