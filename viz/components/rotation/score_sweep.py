"""Score against distance with contents held fixed: the open head large, every head of its layer small beside it.

Sends "head", the one opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "peak": N_("{head} scores highest at distance {peak}: {score}."),
    "peak_short": N_("highest at {peak}"),
    "none": N_("{head} has no softmax scores here."),
    "fact": N_("On this text it puts {fact} of its attention on the token before."),
    "at": N_("At distance {distance}: {score}."),
    "shared": N_("{heads} share their keys and values."),
    "axis_distance": N_("distance in tokens, from the key to the query"),
    "axis_score": N_("score before the softmax"),
    "how": N_(
        "All small panels span the same range of scores, each around its own middle: a flat line does not mind the "
        "distance. Framed more strongly: heads that score highest at distance 1, the token before."
    ),
}

SOURCE = read_source(Path(__file__).parent, "score_sweep", '<div class="score-sweep"></div>\n')


def payload(
    *,
    layer: int,
    head: int,
    distances: NDArray[np.integer[Any]],
    scores: NDArray[np.floating],
    facts: Sequence[str],
    notes: Sequence[str],
    texts: Mapping[str, str],
    group: int = 1,
) -> bytes:
    """`scores` [heads, distances] of every head of `layer`, NaN where it has none; `head` is the open one.

    `facts` is each head's attention on the token before, in words, or empty; `notes` say whose contents were swept.
    `group` is the number of neighbouring heads that share one key and value head.
    """
    if scores.shape[1:] != distances.shape or not 0 <= head < len(scores) or len(facts) not in (0, len(scores)):
        raise ValueError(f"scores {scores.shape}, {len(distances)} distances, {len(facts)} facts, head {head}")
    meta: dict[str, JSON] = {
        "layer": layer,
        "head": head,
        "group": group if group < len(scores) else 1,
        "facts": list(facts),
        "notes": list(notes),
        "texts": dict(texts),
        "palette": palette(),
    }
    return pack(meta, {"scores": scores.astype(np.float32), "distances": distances.astype(np.int32)})
