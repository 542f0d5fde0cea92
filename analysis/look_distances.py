"""How far back a head of a long text looks: the shares of its attention near and far, and where the far ones lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from analysis.made_there import far_maker
from analysis.mask_effect import looks_ahead
from model_runner.capture import ROWS, Capture

FEWEST = 64  # tokens; of a shorter text no band is seen
MOST = 4096  # tokens; beyond, counting every cell takes longer than a reader waits
SMOOTH = 32  # parts of the text: over one of them a distance is averaged
SEEN_BY = 0.1  # of the queries: of a distance that fewer have, a mean says little
EDGE = 0.25  # of a band's height, where it ends
RISE = 2.0  # times the least mean between the near tokens and a band: a mean that only falls shows none


@dataclass(frozen=True)
class LookDistances:
    """Shares of the attention of all queries: on the first token, on others nearer than ``least``, and on the rest.

    ``band`` is the distance of the band farther back, and the one where it ends; None if there is no such band.
    """

    least: int
    first: float
    near: float
    far: float
    band: tuple[int, int] | None


def look_distances(capture: Capture, layer: int, head: int, *, least: int) -> LookDistances | None:
    """The shares of a causal head, exact; None of a text too long to count or too short to have bands.

    None too where tokens see what comes after them. O(ROWS × keys) memory, O(tokens²) time.
    """
    n = len(capture.tokens)
    if not FEWEST <= n <= MOST or least >= _last(n) or far_maker(capture) or looks_ahead(capture):
        return None
    first, by_distance = 0.0, torch.zeros(n, dtype=torch.float64)
    for start in range(0, n, ROWS):
        rows = slice(start, min(start + ROWS, n))
        weights = capture.weights(layer, head, queries=rows, shares=True).double().cpu()
        first += float(weights[:, 0].sum())
        weights[:, 0] = 0.0
        apart = (torch.arange(rows.start, rows.stop)[:, None] - torch.arange(n)).clamp(min=0)
        by_distance.index_add_(0, apart.flatten(), weights.flatten())
    near, far = float(by_distance[:least].sum()) / n, float(by_distance[least:].sum()) / n
    return LookDistances(least, first / n, near, far, band_of(by_distance.numpy(), least))


def band_of(sums: np.ndarray, least: int) -> tuple[int, int] | None:
    """The distance of at least ``least`` with the largest mean weight, and where that band ends, away from the query.

    ``sums`` [tokens]: of all queries, the weight by distance. None if the mean weight only falls with distance.
    """
    n = len(sums)
    width = max(1, n // SMOOTH)
    mean = sums / np.arange(n, 0, -1)  # a distance of n − 1 has one query
    smooth = np.convolve(mean, np.ones(width) / width, "same")[: _last(n)]
    peak = least + int(smooth[least:].argmax())
    below = np.flatnonzero(smooth[peak:] < EDGE * smooth[peak])
    end = peak + int(below[0]) if len(below) else len(smooth)
    return (peak, end) if smooth[peak] > RISE * smooth[least : peak + 1].min() else None


def _last(n_tokens: int) -> int:
    """The distance from which on too few queries have a key so far back."""
    return int(n_tokens * (1 - SEEN_BY))
