"""The open head's weights on the chips of the token strip, with which the text is tinted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from jaxtyping import Float

from analysis.first_hidden import weights_without_first
from analysis.pooling import pool
from analysis.units import Unit
from model_runner.capture import Capture

MOST = 128  # chips; for a longer text not all rows are sent to the browser


def chip_rows(
    capture: Capture, layer: int, head: int, queries: Sequence[int], units: Sequence[Unit], *, hide_first: bool = False
) -> Float[np.ndarray, "queries chips"]:
    """Each query's weights on each chip, summed over the chip's tokens; NaN where masked.

    ``hide_first`` as in a map's HeadQuantity. Raises NoWeights, NoSuchPlace. O(queries from first to last × tokens).
    """
    if not queries:
        return np.zeros((0, len(units)), np.float32)
    rows, keys = slice(min(queries), max(queries) + 1), slice(0, len(capture.tokens))
    read = weights_without_first if hide_first else partial(Capture.weights, shares=True)
    weights = read(capture, layer, head, queries=rows, keys=keys)
    visible = capture.record(layer).mask.tile(rows, keys, weights.device, head=head)
    if hide_first:
        visible = visible.clone()
        visible[:, 0] = False
    bins = [unit.tokens for unit in units]
    shown = pool(visible.to(torch.uint8), 1, bins, "max").bool()
    shares = pool(weights, 1, bins, "sum").float().masked_fill(~shown, torch.nan)
    return shares[[query - rows.start for query in queries]].cpu().numpy()
