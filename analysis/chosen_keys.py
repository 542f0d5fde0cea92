"""Keys that an indexer left out: which cells of a map they are, and the scores of one query's keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from model_runner.capture import Capture


@dataclass(frozen=True, eq=False)
class IndexRow:
    """One query's visible keys in order, with their scores by the indexer of layer ``by``.

    ``missed`` is the share of the unselected keys in a head's attention over all keys, computed exactly from its
    queries and keys. ``top_k`` keys are selected if there are more.
    """

    query: int
    by: int
    top_k: int
    keys: tuple[int, ...]
    scores: Float[np.ndarray, "keys"]
    chosen: Bool[np.ndarray, "keys"]
    missed: float


def index_row(capture: Capture, layer: int, head: int, query: int) -> IndexRow:
    """The indexer's scores for this query's keys. Raises NoIndexer, NotUnderstood, NoSoftmax."""
    row = slice(query, query + 1)
    scores = capture.index_scores(layer, queries=row)[0].cpu().numpy()
    seen = np.isfinite(scores)
    choice = capture.record(layer).choice
    return IndexRow(
        query=query,
        by=capture.choosing_layer(layer),
        top_k=0 if choice is None else choice.top_k,
        keys=tuple(np.flatnonzero(seen).tolist()),
        scores=scores[seen],
        chosen=capture.chosen_keys(layer, queries=row)[0].cpu().numpy()[seen],
        missed=float(capture.missed_share(layer, head, queries=row)[0]),
    )


def left_out_cells(
    capture: Capture, layer: int, head: int | None, queries: slice, keys: slice
) -> Bool[Tensor, "queries keys"]:
    """Visible cells that the query does not use because an indexer selected other keys. O(tile) memory."""
    record = capture.record(layer)
    before = record.mask.before_choice.tile(queries, keys, record.q.device, head=head)
    return before & ~record.mask.tile(queries, keys, record.q.device, head=head)


def leaves_out(capture: Capture, layer: int) -> bool:
    """True if some query of this layer uses fewer keys than are visible."""
    return capture.has_indexer(layer) and capture.record(layer).mask.before_choice is not capture.record(layer).mask
