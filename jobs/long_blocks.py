"""Every head of a long text, block by block while somebody looks; what was done stays."""

from __future__ import annotations

from analysis.long_blocks import BlockRows, MapBlock, block, blocks_of
from jobs.incremental_task import IncrementalTask, unchanged
from model_runner import Capture
from model_runner.job import Job


class _Now:
    """A block is short: it is made when it is waited for, on the thread of who looks."""

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
        """It waits for nobody."""
        return 0

    def cancel(self) -> None:
        """Nothing goes on between two looks."""


class LongBlocks(IncrementalTask[MapBlock]):
    """A block for some rows of a layer, layer after layer."""

    def __init__(self, capture: Capture) -> None:
        rows = self.rows = blocks_of(capture)

        def submit(index: int) -> Job[MapBlock | None] | None:
            return _Now(capture, rows[index]) if index < len(rows) else None

        super().__init__(submit, unchanged, running=True)
