"""Score against distance with fixed contents, for every head of a layer.

The score of a pair of contents at any distance follows from the products of its pairs of dimensions
(:func:`attention.rotary.at_distances`), and the mean score from the mean products: exact, without sampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor

from analysis.positions import float64, place_of
from attention import rotary
from model_runner.capture import ROWS, Capture
from model_runner.positions import layout_of
from model_runner.record import LayerRecord

Contents = Literal["text", "query", "cell"]


@dataclass(frozen=True, eq=False)
class DistanceCurves:
    """Score against distance with fixed contents, for every head of a layer: a mean over ``n_contents`` pairs.

    Distance d puts the query d tokens after the key. Before soft-cap and mask, scale included. ``rest`` is the part of
    each curve that is independent of the distance. Both are NaN for a head with substituted softmax.
    """

    contents: Contents
    n_contents: int
    distances: Int[np.ndarray, "distances"]
    scores: Float[np.ndarray, "heads distances"]
    rest: Float[np.ndarray, "heads"]
    softcap: float | None

    @property
    def peaks(self) -> Int[np.ndarray, "heads"]:
        """The distance of each head's largest score; undefined for a head without scores."""
        return self.distances[self.scores.argmax(axis=1)]


def distance_curves(
    capture: Capture,
    layer: int,
    distances: Sequence[int],
    *,
    contents: Contents = "text",
    query: int = 0,
    key: int = 0,
) -> DistanceCurves:
    """Score against distance, for all heads of a layer.

    ``contents`` are the (query, key) pairs over which is averaged: "text" is every unmasked pair, "query" the pinned
    query with every visible key, "cell" only the pinned query and key. O(heads × tokens² × d_head) time for "text",
    O(heads × tokens × d_head) memory. Raises NoWeights, NoRotation, NotRecoverable, NoSuchPlace.
    """
    layout, record = layout_of(capture, layer), capture.record(layer)
    _, query, key = place_of(capture, layer, 0, query, key)
    q, k = float64(capture.q_unrotated(layer)), float64(capture.k_unrotated(layer))
    rows = slice(0, q.shape[1]) if contents == "text" else slice(query, query + 1)
    only = key if contents == "cell" else None
    product, rest, count = _mean_products(record, q, k, rows, only, layout.source)
    rest[list(record.without_softmax)] = torch.nan  # makes the curve NaN too
    at = torch.tensor(list(distances), dtype=torch.long)
    turned = rotary.at_distances(product, layout.theta, at).sum(-1)
    return DistanceCurves(
        contents=contents,
        n_contents=count,
        distances=at.numpy(),
        scores=(record.scale * (layout.factor**2 * turned + rest[:, None])).numpy(),
        rest=(record.scale * rest).numpy(),
        softcap=record.softcap,
    )


def _mean_products(
    record: LayerRecord,
    q: Float[Tensor, "heads tokens d_head"],
    k: Float[Tensor, "kv_heads tokens d_head"],
    rows: slice,
    only: int | None,
    pairs: Int[Tensor, "pairs 2"],
) -> tuple[Complex[Tensor, "heads pairs"], Float[Tensor, "heads"], int]:
    """Mean product of each pair, mean product of the dimensions that are not rotated, and the number of contents.

    Over the queries of ``rows`` and, for each, its visible keys or a single key. A query's products are summed as its
    product with the sum of its keys.
    """
    product = torch.zeros(len(q), len(pairs), dtype=torch.complex128)
    rest, count = torch.zeros(len(q), dtype=torch.float64), 0
    for start in range(rows.start, rows.stop, ROWS):
        block = slice(start, min(start + ROWS, rows.stop))
        keep = _chosen(record, block, k.shape[1], only)
        keys = (keep.double() @ k).repeat_interleave(record.group, dim=0)  # (heads, block, d_head), summed
        product += rotary.products(q[:, block], keys, pairs).sum(dim=1)
        rest += rotary.without_pairs(q[:, block] * keys, pairs).sum(dim=(1, 2))
        count += int(keep.sum())
    return product / count, rest / count, count


def _chosen(record: LayerRecord, block: slice, n_keys: int, only: int | None) -> Bool[Tensor, "block keys"]:
    if only is not None:
        return (torch.arange(n_keys) == only).expand(block.stop - block.start, -1)
    return record.mask.tile(block, slice(0, n_keys), record.q.device).cpu()
