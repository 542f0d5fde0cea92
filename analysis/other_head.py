"""A default head to compare the open one with: one that most models have, and that behaves differently."""

from __future__ import annotations

import numpy as np

from analysis.head_grid import HeadGrid

TELLING = ("previous", "first")  # metrics; the second is used if the open head has the largest value of the first


def other_head(grid: HeadGrid, head: tuple[int, int]) -> tuple[int, int]:
    """The head with the most weight on the previous token or, if that is ``head``, on the first token.

    ``head`` itself if there is no other, or the text is too short.
    """
    for name in TELLING:
        values = grid.metrics[name]
        if np.isfinite(values).any():
            layer, other = (int(i) for i in np.unravel_index(np.nanargmax(values), values.shape))
            if (layer, other) != head:
                return layer, other
    return head
