"""Keys that an indexer left out: which cells of a map they are, and what one query's keys were scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from model_runner.capture import Capture


@dataclass(frozen=True, eq=False)
class IndexRow:
    """The keys that one query may see, in their order, as the indexer of layer ``by`` scored them.

    ``missed`` is the share of the keys not chosen in the attention that one head would pay to all of them: exact, from
    its queries and keys. ``top_k`` keys are chosen where there are more.
    """

    query: int
    by: int
    top_k: int
    keys: tuple[int, ...]
    scores: Float[np.ndarray, "keys"]
    chosen: Bool[np.ndarray, "keys"]
    missed: float


def index_row(capture: Capture, layer: int, head: int, query: int) -> IndexRow:
    """What the indexer of a layer gave the keys of this query. Raises NoIndexer, NotUnderstood, NoSoftmax."""
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
    """The cells that a query may see and does not read, since an indexer chose other keys. O(tile) memory."""
    record = capture.record(layer)
    before = record.mask.before_choice.tile(queries, keys, record.q.device, head=head)
    return before & ~record.mask.tile(queries, keys, record.q.device, head=head)


def leaves_out(capture: Capture, layer: int) -> bool:
    """Whether some query of this layer reads fewer keys than it may see."""
    return capture.has_indexer(layer) and capture.record(layer).mask.before_choice is not capture.record(layer).mask
