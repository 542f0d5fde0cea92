"""A head to compare the open one with, where nobody chose one: what most models have, and what looks otherwise."""

from __future__ import annotations

import numpy as np

from analysis.head_grid import HeadGrid

TELLING = ("previous", "first")  # metrics; the second where the open head is already the first's strongest


def other_head(grid: HeadGrid, head: tuple[int, int]) -> tuple[int, int]:
    """The head that looks hardest at the token before, or, where that is ``head``, at the first token.

    ``head`` itself where there is no other, or where the text is too short to tell.
    """
    for name in TELLING:
        values = grid.metrics[name]
        if np.isfinite(values).any():
            layer, other = (int(i) for i in np.unravel_index(np.nanargmax(values), values.shape))
            if (layer, other) != head:
                return layer, other
    return head
