"""Long-range attention of a head: each query's strongest distant key, the first token left out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.capture import ROWS
from model_runner.record import LayerRecord


@dataclass(frozen=True)
class FarLook:
    """``query`` attends to ``key`` with this weight."""

    query: int
    key: int
    weight: float


def far_looks(
    record: LayerRecord, head: int, lse: Float[Tensor, "queries"], *, least: int, count: int
) -> list[FarLook]:
    """At most ``count`` queries, the strongest first, each with its strongest key at least ``least`` tokens away.

    ``lse`` are the head's denominators. The first token is left out as a key, since many heads use it as a sink. O(ROWS
    × keys) memory, O(tokens²) time.
    """
    n_queries, n_keys = record.q.shape[1], record.k.shape[1]
    k_idx = torch.arange(n_keys, device=record.q.device)
    weights, keys = [], []
    for start in range(0, n_queries, ROWS):
        rows = slice(start, min(start + ROWS, n_queries))
        row = record.weights(slice(head, head + 1), rows, slice(0, n_keys), ROWS, lse[None, rows], shares=True)[0]
        apart = (torch.arange(rows.start, rows.stop, device=row.device)[:, None] - k_idx).abs()
        found = row.masked_fill((apart < least) | (k_idx == 0), 0.0).max(dim=1)
        weights.append(found.values)
        keys.append(found.indices)
    strongest = torch.cat(weights).topk(min(count, n_queries))
    key_of = torch.cat(keys)
    return [
        FarLook(query, int(key_of[query]), weight)
        for query, weight in zip(strongest.indices.tolist(), strongest.values.tolist(), strict=True)
        if weight > 0
    ]
