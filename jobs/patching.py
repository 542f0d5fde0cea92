"""The activation patching map: one job on the model per row, run incrementally."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from analysis.patching import PatchMap, patch_map
from jobs.incremental_task import IncrementalTask
from model_runner import Capture, CaptureRequest, Runner
from model_runner.job import Job
from model_runner.questions import PatchFfn, PatchHeads, PatchStream

if TYPE_CHECKING:
    from torch import Tensor

Kind = Literal["residual", "attention", "ffn", "heads"]


@dataclass(frozen=True, eq=False)
class PatchSetting:
    """``plain`` is patched with activations of ``other``; rows are layers, or the heads of ``layer`` if ``kind`` says
    so.

    ``reversed``: the page's own text is ``other``.
    """

    plain: Capture
    other: Capture
    tokens: tuple[int, int]
    kind: Kind
    layer: int
    reversed: bool

    @property
    def n_rows(self) -> int:
        return self.plain.record(self.layer).q.shape[0] if self.kind == "heads" else self.plain.n_layers

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that can be computed: in a layer without softmax attention only the residual stream can be patched."""
        if self.kind != "attention":
            return tuple(range(self.n_rows))
        return tuple(layer for layer in range(self.n_rows) if self.plain.has_weights(layer))

    @property
    def order(self) -> tuple[int, ...]:
        """The rows in order of computation, from the last layer down, since patching later layers repeats fewer of
        them.
        """
        return self.rows[::-1]

    @property
    def row_labels(self) -> list[str]:
        letter = "H" if self.kind == "heads" else "L"
        return [f"{letter}{row}" for row in range(self.n_rows)]

    @property
    def name(self) -> str:
        """Name of the task: maps of other kinds or layers are kept beside each other."""
        return f"patch_{self.kind}{self.layer if self.kind == 'heads' else ''}"

    @property
    def key(self) -> tuple[CaptureRequest, CaptureRequest, tuple[int, int]]:
        """What determines the map of this name."""
        return self.plain.request, self.other.request, self.tokens

    def question(self, row: int) -> PatchStream | PatchHeads | PatchFfn:
        """The question that computes a row."""
        plain, other = self.plain.request, self.other.request
        if self.kind == "residual":
            return PatchStream(plain, other, row, self.tokens)
        if self.kind == "ffn":
            return PatchFfn(plain, other, row, self.tokens)
        if self.kind == "attention":
            return PatchHeads(plain, other, row, None, self.tokens)
        return PatchHeads(plain, other, self.layer, row, self.tokens)

    def map_of(self, found: list[np.ndarray]) -> PatchMap:
        """The map with the rows that are done, given in their ``order``."""
        rows = dict(zip(self.order, found, strict=False))
        return patch_map(rows, self.n_rows, self.plain, self.other, self.tokens)


Rows = IncrementalTask[np.ndarray]


def rows_of(runner: Runner, setting: PatchSetting, name: str) -> Rows:
    """A task for the rows of a setting's map; ``name`` identifies the session at the runner."""

    def submit(index: int) -> Job[Tensor] | None:
        if index == len(setting.order):
            return None
        return runner.submit(setting.question(setting.order[index]), session=name)

    return IncrementalTask(submit, lambda _index, found: found.double().cpu().numpy(), running=True)
