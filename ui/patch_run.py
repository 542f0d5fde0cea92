"""What the patching view computes: one job on the model for each row of its map, pulled while somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from weakref import ref

import numpy as np

from analysis.patching import PatchMap, patch_map
from model_runner import Capture, CaptureRequest, Runner
from model_runner.head_effects import head_patches, residual_patches
from model_runner.rerun import Rerun
from model_runner.worker import Job
from ui import session
from ui.kv_pull import Pull

Kind = Literal["residual", "attention", "heads"]


@dataclass(frozen=True, eq=False)
class Setting:
    """``plain`` is patched with what ``other`` has; rows are layers, or the heads of ``layer`` where ``kind`` says so.

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
        """Rows that can be computed: only the residual stream enters a layer without softmax attention."""
        if self.kind != "attention":
            return tuple(range(self.n_rows))
        return tuple(layer for layer in range(self.n_rows) if self.plain.has_weights(layer))

    @property
    def order(self) -> tuple[int, ...]:
        """The rows as they are computed: the upper layers first, for fewer are run again above them."""
        return self.rows[::-1]

    @property
    def row_labels(self) -> list[str]:
        letter = "H" if self.kind == "heads" else "L"
        return [f"{letter}{row}" for row in range(self.n_rows)]

    @property
    def name(self) -> str:
        """Of the work: maps of another kind or layer are kept beside one another."""
        return f"patch_{self.kind}{self.layer if self.kind == 'heads' else ''}"

    @property
    def key(self) -> tuple[CaptureRequest, CaptureRequest, tuple[int, int]]:
        """What determines the map of this name."""
        return self.plain.request, self.other.request, self.tokens

    def work(self, row: int) -> Callable[[Rerun], Any]:
        """The job that computes a row."""
        if self.kind == "residual":
            return lambda rerun: residual_patches(rerun, row, self.other, self.tokens)
        if self.kind == "attention":
            return lambda rerun: head_patches(rerun, row, None, self.other, self.tokens)
        return lambda rerun: head_patches(rerun, self.layer, row, self.other, self.tokens)

    def map_of(self, found: list[np.ndarray]) -> PatchMap:
        """The map as far as its rows are there, found in their ``order``."""
        rows = dict(zip(self.order, found, strict=False))
        return patch_map(rows, self.n_rows, self.plain, self.other, self.tokens)


Rows = Pull[np.ndarray]


def rows_of(runner: Runner, setting: Setting) -> Rows:
    """The rows of this session's map of the setting, those that are there and those to come."""
    return session.works().get(setting.name, (ref(runner), setting.key), lambda name: _begin(runner, setting, name))


def _begin(runner: Runner, setting: Setting, name: str) -> Rows:
    def submit(index: int) -> Job[Any] | None:
        if index == len(setting.order):
            return None
        return runner.rerun(setting.plain, setting.work(setting.order[index]), session=name)

    return Pull(submit, lambda _index, found: found.double().cpu().numpy(), running=True)
