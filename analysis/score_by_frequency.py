"""A score by frequency: what each rotated pair of dimensions adds to q·k.

Computed from the vectors that attention received, in float64, scale included. Pairs are fastest first. A layer without
rotation raises NoRotation, one whose rotation cannot be inferred NotRecoverable, one without softmax attention
NoWeights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from analysis.positions import float64, place_of
from attention import rotary
from model_runner.capture import Capture
from model_runner.positions import layout_of


@dataclass(frozen=True, eq=False)
class FrequencySplit:
    """One cell's score by pair: ``contributions`` and ``rest`` sum to ``scaled``; the soft-cap turns it into ``score``.

    ``visible`` says whether the mask lets the query attend to the key; the numbers are there either way.
    """

    query: int
    key: int
    theta: Float[np.ndarray, "pairs"]
    contributions: Float[np.ndarray, "pairs"]
    rest: float  # of the dimensions that are not rotated; 0 if all are
    n_rest: int  # number of those dimensions
    scaled: float
    softcap: float | None
    score: float
    visible: bool


@dataclass(frozen=True, eq=False)
class FrequencyMap:
    """Every key of one query: ``contributions`` of a column and its ``rest`` sum to its ``scaled``."""

    query: int
    theta: Float[np.ndarray, "pairs"]
    contributions: Float[np.ndarray, "pairs keys"]
    rest: Float[np.ndarray, "keys"]
    n_rest: int
    scaled: Float[np.ndarray, "keys"]  # before the soft-cap
    keep: Bool[np.ndarray, "keys"]


def frequency_split(capture: Capture, layer: int, head: int, query: int, key: int) -> FrequencySplit:
    """The score of one cell by pair. Also raises NoSuchPlace."""
    head, query, key = place_of(capture, layer, head, query, key)
    row, record = frequency_map(capture, layer, head, query), capture.record(layer)
    scaled = float(row.scaled[key])
    return FrequencySplit(
        query=query,
        key=key,
        theta=row.theta,
        contributions=row.contributions[:, key].copy(),
        rest=float(row.rest[key]),
        n_rest=row.n_rest,
        scaled=scaled,
        softcap=record.softcap,
        score=scaled if record.softcap is None else record.softcap * math.tanh(scaled / record.softcap),
        visible=bool(row.keep[key]),
    )


def frequency_map(capture: Capture, layer: int, head: int, query: int) -> FrequencyMap:
    """The scores of one query by pair and key. O(keys × d_head). Also raises NoSuchPlace."""
    capture.check_softmax(layer, head)
    layout, record = layout_of(capture, layer), capture.record(layer)
    head, query = place_of(capture, layer, head, query)
    q, keys = float64(record.q[head, query]), float64(record.k[head // record.group])
    keep = record.mask.tile(slice(query, query + 1), slice(0, len(keys)), record.q.device)[0]
    rest = rotary.without_pairs(q * keys, layout.pairs)
    return FrequencyMap(
        query=query,
        theta=layout.theta.numpy(),
        contributions=(record.scale * rotary.pair_contributions(q, keys, layout.pairs)).T.contiguous().numpy(),
        rest=(record.scale * rest.sum(-1)).numpy(),
        n_rest=rest.shape[-1],
        scaled=(record.scale * (keys @ q)).numpy(),
        keep=keep.cpu().numpy(),
    )
