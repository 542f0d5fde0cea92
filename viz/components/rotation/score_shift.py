"""The contents of one query and one key, moved to any two positions: their score depends on the difference alone.

Every score is computed in the browser by turning both vectors. Sends "positions", the two chosen, once they rest, and
"span", the range of the sliders.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack
from viz.components.rotation.rotation import NEAR, Span
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "query": N_("query {token} at position m"),
    "key": N_("key {token} at position n"),
    "lock": N_("keep the difference m − n"),
    "back": N_("back to {m} and {n}"),
    "range": N_("positions the sliders reach"),
    "score": N_("score(m = {m}, n = {n}) = {score}, difference m − n = {difference}"),
    "flat": N_("Moved together over the whole slider, this score changes by {spread}: rounding."),
    "deviation": N_(
        "Checked apart, by five shifts of at most 1,000 positions: over all pairs of tokens the change is at most "
        "{deviation}."
    ),
    "later": N_("Here the key comes after the query: this model masks such a cell, though its score exists."),
    "map": N_("{head}: the score for every m and n; equal differences lie on one diagonal."),
    "axis_m": N_("m, position of the query"),
    "axis_n": N_("n, position of the key"),
    "axis_difference": N_("difference m − n"),
    "together": N_("Both move: nothing changes"),
    "apart": N_("Only one moves: the score turns with the difference"),
}

SOURCE = read_source(Path(__file__).parent, "score_shift", '<div class="score-shift"></div>\n')


def payload(
    *,
    head: str,
    tokens: tuple[str, str],
    own: tuple[int, int],
    positions: tuple[int, int],
    span: Span = "near",
    lock: bool = True,
    context: int,
    causal: bool,
    q: NDArray[np.floating],
    k: NDArray[np.floating],
    theta: NDArray[np.floating],
    scale: float,
    rest: float,
    softcap: float | None,
    deviation: str,
    texts: Mapping[str, str],
) -> bytes:
    """A query and a key, both before the rotation, as pairs [pairs, 2] turning by position × `theta`.

    score = `scale` · Σ turned q · turned k + `rest`, then the soft-cap; so `scale` includes what the rotation
    stretches by, and `rest` what is not turned. `own` are the positions of the two tokens, `positions` those shown
    first, in the range `span` or as wide a one as they need; with `lock` both move together. `deviation` is the
    largest change of any score of this head under a common shift, in words.
    """
    if not q.shape == k.shape == (len(theta), 2):
        raise ValueError(f"{len(theta)} frequencies, but q {q.shape} and k {k.shape}")
    meta: dict[str, JSON] = {
        "head": head,
        "tokens": list(tokens),
        "own": list(own),
        "positions": list(positions),
        "span": "near" if span == "near" else "context",
        "lock": lock,
        "context": max(context, *positions, 1),
        "near": max(NEAR, *(position + 1 for position in own)),
        "causal": causal,
        "scale": scale,
        "rest": rest,
        "softcap": softcap,
        "deviation": deviation,
        "texts": dict(texts),
        "palette": palette(),
    }
    vectors = {"q": q.ravel(), "k": k.ravel(), "theta": theta}
    return pack(meta, {name: values.astype(np.float32) for name, values in vectors.items()})
