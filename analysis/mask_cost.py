"""The cost of attention under a pattern, by formula, for texts of any length and a model of this shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attention.patterns import Pattern
from model_runner import Capture


@dataclass(frozen=True)
class HeadWork:
    """Over all heads of all layers: multiply-adds per cell, and bytes of a cell's score."""

    multiply_adds: int
    n_bytes: int


@dataclass(frozen=True)
class MaskCost:
    """For one text: kept cells of one head, and over all heads multiply-adds and the bytes of their scores."""

    n_tokens: int
    cells: float
    multiply_adds: float
    n_bytes: float


def head_work(capture: Capture) -> HeadWork:
    """A cell takes d_head multiply-adds for its score and d_value for its value; its score is one number."""
    work = n_bytes = 0
    for record in capture.records:
        if record is not None:
            heads, _, d_head = record.q.shape
            work += heads * (d_head + record.v.shape[-1])
            n_bytes += heads * record.q.element_size()
    return HeadWork(work, n_bytes)


def mask_cost(
    pattern: Pattern, values: Mapping[str, int], n_tokens: int, work: HeadWork, *, causal: bool = True
) -> MaskCost:
    """The same pattern on every head of every layer; ``causal`` False for a bidirectional model. O(tokens)."""
    cells = pattern.kept_cells(n_tokens, values, causal=causal)
    return MaskCost(n_tokens, cells, cells * work.multiply_adds, cells * work.n_bytes)
