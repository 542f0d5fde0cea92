"""q·k of every cell of a head, split into the two norms and the angle, as maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from analysis.head_map import PIXELS, HeadMap, Window, cells_map
from analysis.units import Unit, token_units
from attention.similarity import split
from model_runner.capture import Capture


@dataclass(frozen=True, eq=False)
class SimilarityMaps:
    """NaN where masked. In an exact map ``products`` = ``lengths`` · ``cosines`` in every cell; pooled ones are means.

    Not divided by √d; of the vectors in attention, after the rotation.
    """

    cosines: HeadMap
    lengths: HeadMap  # ‖q‖ ‖k‖
    products: HeadMap  # q·k


def similarity_maps(
    capture: Capture, layer: int, head: int, *, window: Window | None = None, pixels: int = PIXELS
) -> SimilarityMaps:
    """For all cells in the window, or of the head for None; at most ``pixels`` per side. Raises NoWeights.

    In float64; O(cells of the window) time, O(ROWS × keys) memory.
    """
    record, units = capture.record(layer), token_units(capture)

    def made(measure: Callable[[Tensor, Tensor], Tensor]) -> HeadMap:
        def cells(looking: tuple[Unit, ...], looked_at: tuple[Unit, ...]) -> tuple[Tensor, Tensor]:
            rows, keys = (slice(side[0].start, side[-1].stop) for side in (looking, looked_at))
            q, k = record.q[head, rows].to(torch.float64), record.k[head // record.group, keys].to(torch.float64)
            visible = record.mask.tile(rows, keys, q.device, head=head).expand(len(q), len(k))
            return measure(q, k).masked_fill(~visible, 0.0), visible

        return cells_map(capture, units, window, cells, how="mean", pixels=pixels)

    return SimilarityMaps(
        made(lambda q, k: split(q, k).cosines),
        made(lambda q, k: torch.outer(q.norm(dim=-1), k.norm(dim=-1))),
        made(lambda q, k: q @ k.T),
    )
