"""One head's map at any length: tiles that come from the server as they are looked at, with search and far looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from viz.color import palette
from viz.components.packing import pack
from viz.components.source import read_source

N_ = str

LOW = 1e-4  # where a logarithmic scale begins: a weight of one in ten thousand

TEXTS: dict[str, str] = {
    "summary": N_("The map of the open head: queries down, keys across. Arrow keys, + and − move the view."),
    "cell": N_("{query} ({query_index}) looks {value} at {key} ({key_index})"),
    "cannot": N_("{query} ({query_index}) cannot see {key} ({key_index})"),
    "pixel_max": N_(
        "around {query} ({query_index}) and {key} ({key_index}): the largest of {n} × {n} cells is {value}"
    ),
    "pixel_mean": N_("around {query} ({query_index}) and {key} ({key_index}): the mean of {n} × {n} cells is {value}"),
    "first_cells": N_("{n} queries around {query} ({query_index}) on the first token, {key}: {value}"),
    "exact": N_("each pixel: one cell"),
    "of_max": N_("each pixel: largest of {n} cells"),
    "of_mean": N_("each pixel: mean of {n} cells"),
    "apart": N_("the first token stands apart"),
    "masked": N_("masked"),
    "first": N_("first token"),
    "axis_query": N_("looking (query)"),
    "axis_key": N_("looked at (key)"),
    "zoom_in": N_("zoom in"),
    "zoom_out": N_("zoom out"),
    "whole": N_("whole text"),
    "mini": N_("The whole map in small; press where the view should go."),
    "search": N_("find in the text"),
    "before": N_("the one before"),
    "after": N_("the next one"),
    "found": N_("found: {n}"),
    "looks": N_("Strongest looks over a distance of {n} or more, the first token left out"),
    "look": N_("{query} → {key}  {value} · distance {distance}"),
    "no_looks": N_("None: the text is shorter than that, or the head does not look so far."),
    "wait": N_("Looking for them …"),
    "hint": N_("Drag to move, wheel or pinch to zoom, click to pin a cell."),
    "undefined": N_("masked"),
    "percent": N_("{number} %"),
}

SOURCE = read_source(Path(__file__).parent, "long_map", '<div class="long-map">\n</div>')


def payload(
    *,
    labels: Sequence[str],
    causal: bool,
    layer: int,
    head: int,
    ticket: str,
    pooling: Literal["max", "mean"],
    log: bool,
    far: int,
    window: tuple[int, int, int, int] | None,
    selected: tuple[int, int | None] | None,
    texts: Mapping[str, str],
    max_height: int = 596,
) -> bytes:
    """What the map begins with; its numbers come by HTTP, for this ``ticket``. It sends `cell`, `window`, `refused`.

    `window` is (q0, q1, k0, k1) in tokens, ends excluded, None the whole text. `cell` is [query, key], [query, null]
    for a row alone, or null; `refused` is the ticket for which nothing is answered any more.
    """
    meta = {
        "tokens": len(labels),
        "labels": list(labels),
        "causal": causal,
        "layer": layer,
        "head": head,
        "ticket": ticket,
        "pooling": pooling,
        "log": log,
        "low": LOW,
        "far": far,
        "window": None if window is None else [int(edge) for edge in window],
        "selected": None if selected is None else [None if at is None else int(at) for at in selected],
        "max_height": max_height,
        "texts": dict(texts),
        "palette": palette(),
    }
    return pack(meta, {})
