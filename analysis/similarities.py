"""A head's queries and keys by several similarity measures, and q·k split into norms and angle over all cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.joined import first_query, n_looked_at
from analysis.step_window import StepWindow, window
from attention.similarity import Split, split
from model_runner.capture import ROWS, Capture

Ends = tuple[float, float]


@dataclass(frozen=True, eq=False)
class HeadVectors:
    """A few queries and keys of a head, as in attention, float64."""

    window: StepWindow
    q: Float[Tensor, "queries d_head"]
    k: Float[Tensor, "keys d_head"]


@dataclass(frozen=True)
class Spread:
    """Minimum and maximum over all visible cells."""

    q_norm: Ends
    k_norm: Ends
    cosine: Ends
    cells: int


def head_vectors(capture: Capture, layer: int, head: int, query: int) -> HeadVectors:
    """The query and its keys with the largest weights. Raises NoWeights, NoScores."""
    capture.check_attention(layer)
    record, chosen = capture.record(layer), window(capture, layer, head, query)
    q = record.q[head, list(chosen.queries)].detach().to("cpu", torch.float64)
    k = record.k[head // record.group, list(chosen.keys)].detach().to("cpu", torch.float64)
    return HeadVectors(chosen, q, k)


def spread(capture: Capture, layer: int, head: int) -> Spread:
    """Over all cells of the head, one block of rows at a time: O(tokens²) time, O(ROWS × keys) memory."""
    record, n_keys = capture.record(layer), n_looked_at(capture)
    k = record.k[head // record.group, :n_keys].to(torch.float64)
    ends: list[tuple[Ends, Ends]] = []
    cells, seen_keys = 0, torch.zeros(n_keys, dtype=torch.bool, device=k.device)
    for start in range(first_query(capture), len(capture.tokens), ROWS):
        rows = slice(start, min(start + ROWS, len(capture.tokens)))
        found: Split = split(record.q[head, rows].to(torch.float64), k)
        keep = record.mask.tile(rows, slice(0, n_keys), k.device, head=head).expand(found.cosines.shape)
        if keep.any():
            ends.append((_ends(found.q_norms[keep.any(1)]), _ends(found.cosines[keep])))
        cells, seen_keys = cells + int(keep.sum()), seen_keys | keep.any(0)
    q_norms, angles = zip(*ends, strict=True)
    return Spread(_widest(q_norms), _ends(k.norm(dim=-1)[seen_keys]), _widest(angles), cells)


def _ends(values: Float[Tensor, "..."]) -> Ends:
    return float(values.min()), float(values.max())


def _widest(every: Iterable[Ends]) -> Ends:
    lows, highs = zip(*every, strict=True)
    return min(lows), max(highs)
