"""Attention patterns as small pictures, one of them large: what it keeps, how far it reaches, a pencil to hide cells.

Sends "pattern" (its name), "layers" (how many the large picture shows), "hidden" (the cells painted) and "query".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "patterns": N_("patterns"),
    "axis_query": N_("looking (query)"),
    "axis_key": N_("looked at (key)"),
    "row": N_("{query} sees {seen} of {possible} tokens; after {layers} layers it can have heard of {heard}."),
    "row_one": N_("{query} sees {seen} of {possible} tokens."),
    "first_seen": N_("It sees the first token."),
    "first": N_("The first token reaches it after {layer} layers."),
    "first_never": N_("The first token does not reach it in the model’s {layers} layers."),
    "sees": N_("{query} sees {key}."),
    "hears": N_("{query} does not see {key}, but can have heard of it after {layers} layers."),
    "never": N_("{query} cannot have heard of {key} in {layers} layers."),
    "future": N_("{key} comes after {query}."),
    "given": N_("{query} would see nothing else, so it keeps itself."),
    "by_hand": N_("{query} does not see {key}: hidden by hand."),
    "apart": N_("{query} sees {key} as if {distance} positions back; they are {true} apart. {region}"),
    "index": N_("{query} sees every key; the farthest seems {distance} positions back."),
    "reach": N_("Layers"),
    "layers": N_("after {layers} layers"),
    "layer": N_("one layer"),
    "play": N_("let it grow"),
    "stop": N_("stop"),
    "pencil": N_("pencil: hide cells"),
    "clear": N_("clear"),
    "kept": N_("seen"),
    "heard": N_("heard of through other tokens"),
    "hidden": N_("hidden by the pattern"),
    "ahead": N_("the future"),
    "painted": N_("hidden by hand"),
    "intra": N_("same chunk: true distance"),
    "successive": N_("chunk before: true, then from a capped query position"),
    "inter": N_("farther back: from the capped query position"),
}

SOURCE = read_source(Path(__file__).parent, "mask_gallery", '<div class="mask-gallery">\n</div>')


@dataclass(frozen=True, eq=False)
class Regions:
    """Where each key seems to be: ``region`` 0 same chunk, 1 the one before, 2 farther back, 3 the future."""

    distance: NDArray[np.int32]
    region: NDArray[np.uint8]


def payload(
    *,
    names: Sequence[str],
    labels: Sequence[str],
    small: NDArray[np.uint8],
    selected: str,
    tokens: Sequence[str],
    layers: NDArray[np.uint8],
    n_layers: int,
    shown: int,
    query: int | None,
    hidden: Sequence[tuple[int, int]],
    given: Sequence[int],
    most_hidden: int,
    note: str,
    texts: Mapping[str, str],
    regions: Regions | None = None,
    causal: bool = True,
    max_height: int = 650,
) -> bytes:
    """`small` [patterns, n, n]: 0 hidden to 200 kept, 255 the future, 251 to 253 the regions of an index map.

    `layers` [queries, keys] says after how many layers a query has heard of a key, 0 never; `shown` of `n_layers` are
    drawn. `hidden` cells were painted, at most `most_hidden`; `given` queries keep their own cell all the same. With
    `regions` the large picture shows these instead, and nothing can be painted. Not `causal`, no cell is the future.
    """
    if len(names) != len(labels) or len(small) != len(names) or layers.shape != (len(tokens), len(tokens)):
        raise ValueError(f"{len(names)} names, {len(labels)} labels, small {small.shape}, layers {layers.shape}")
    arrays: dict[str, NDArray[Any]] = {
        "small": small.astype(np.uint8, copy=False),
        "reached": layers.astype(np.uint8, copy=False),
    }
    if regions is not None:
        arrays |= {"distance": regions.distance.astype(np.int32), "region": regions.region.astype(np.uint8)}
    meta: dict[str, JSON] = {
        "names": list(names),
        "labels": list(labels),
        "selected": selected,
        "tokens": list(tokens),
        "n_layers": n_layers,
        "shown": shown,
        "query": query,
        "hidden": [[int(q), int(k)] for q, k in hidden],
        "given": [int(q) for q in given],
        "most_hidden": most_hidden,
        "note": note,
        "texts": dict(texts),
        "palette": palette(),
        "causal": causal,
        "max_height": max_height,
    }
    return pack(meta, arrays)
