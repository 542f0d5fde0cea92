"""The entropy of every row of a head, with the row's number of visible keys."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int

from analysis.joined import first_query, n_looked_at
from attention.distributions import entropy
from model_runner.capture import ROWS, Capture


def row_entropies(capture: Capture, layer: int, head: int) -> tuple[Int[np.ndarray, "rows"], Float[np.ndarray, "rows"]]:
    """Visible keys and bits, in order of the number of keys; rows with a single key are left out.

    O(ROWS × keys) memory.
    """
    record, n_tokens, n_keys = capture.record(layer), len(capture.tokens), n_looked_at(capture)
    seen: list[torch.Tensor] = []
    bits: list[torch.Tensor] = []
    for start in range(first_query(capture), n_tokens, ROWS):
        rows = slice(start, min(start + ROWS, n_tokens))
        keep = record.mask.tile(rows, slice(0, n_keys), record.q.device, head=head)
        seen.append(keep.expand(rows.stop - rows.start, n_keys).sum(1))
        weights = capture.weights(layer, head, queries=rows, keys=slice(0, n_keys), shares=True)
        bits.append(entropy(weights.double()))
    counts, values = torch.cat(seen).cpu().numpy(), torch.cat(bits).cpu().numpy()
    several = np.flatnonzero(counts > 1)
    order = several[np.argsort(counts[several], kind="stable")]
    return counts[order], values[order]
