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


@dataclass(frozen=True)
class LookDistances:
    """Shares of the attention of all queries: on the first token, on others nearer than ``least``, and on the rest.

    ``peak`` is the distance of at least ``least`` at which the mean weight is largest, and ``outer`` the one where that
    band ends, away from the query.
    """

    least: int
    first: float
    near: float
    far: float
    peak: int
    outer: int


def look_distances(capture: Capture, layer: int, head: int, *, least: int) -> LookDistances | None:
    """The shares of a causal head, exact; None of a text too long to count or too short to have bands.

    None too where tokens see what comes after them. O(ROWS × keys) memory, O(tokens²) time.
    """
    n = len(capture.tokens)
    last = int(n * (1 - SEEN_BY))
    if not FEWEST <= n <= MOST or least >= last or far_maker(capture) or looks_ahead(capture):
        return None
    first, by_distance = 0.0, torch.zeros(n, dtype=torch.float64)
    for start in range(0, n, ROWS):
        rows = slice(start, min(start + ROWS, n))
        weights = capture.weights(layer, head, queries=rows, shares=True).double().cpu()
        first += float(weights[:, 0].sum())
        weights[:, 0] = 0.0
        apart = (torch.arange(rows.start, rows.stop)[:, None] - torch.arange(n)).clamp(min=0)
        by_distance.index_add_(0, apart.flatten(), weights.flatten())
    width = max(1, n // SMOOTH)
    mean = by_distance.numpy() / np.arange(n, 0, -1)  # a distance of n − 1 has one query
    smooth = np.convolve(mean, np.ones(width) / width, "same")[:last]
    peak = least + int(smooth[least:].argmax())
    below = np.flatnonzero(smooth[peak:] < EDGE * smooth[peak])
    outer = peak + int(below[0]) if len(below) else last
    near, far = float(by_distance[:least].sum()) / n, float(by_distance[least:].sum()) / n
    return LookDistances(least, first / n, near, far, peak, outer)
