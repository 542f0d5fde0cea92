"""One head's map at any length, as tiles that the browser requests, with search and long-range links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from viz.components.picture import CellOrRow, ColoredPicture, Texts, Window, sent
from viz.components.source import read_source

N_ = str

LOW = 1e-4  # start of a logarithmic scale: a weight of one in ten thousand

TEXTS: dict[str, str] = {
    "summary": N_("The map of the open head: queries down, keys across. Arrow keys, + and − move the view."),
    "cell": N_("{query} ({query_index}) puts {value} on {key} ({key_index})"),
    "cannot": N_("{query} ({query_index}) cannot see {key} ({key_index})"),
    "pixel_max": N_(
        "around {query} ({query_index}) and {key} ({key_index}): the largest of {n} × {n} cells is {value}"
    ),
    "pixel_mean": N_("around {query} ({query_index}) and {key} ({key_index}): the mean of {n} × {n} cells is {value}"),
    "first_cells": N_("{n} queries around {query} ({query_index}) on the first token, {key}: {value}"),
    "exact": N_("each pixel: one cell"),
    "of_max": N_("each pixel: largest of {n} cells"),
    "of_mean": N_("each pixel: mean of {n} cells"),
    "apart": N_("the first token is shown apart"),
    "masked": N_("masked"),
    "first": N_("first token"),
    "axis_query": N_("looking (query)"),
    "axis_key": N_("looked at (key)"),
    "zoom_in": N_("zoom in"),
    "zoom_out": N_("zoom out"),
    "whole": N_("whole text"),
    "mini": N_("The whole map at a glance; click to move the view."),
    "search": N_("find in the text"),
    "before": N_("the one before"),
    "after": N_("the next one"),
    "found": N_("found: {n}"),
    "looks": N_("Strongest attention over a distance of {n} or more, the first token left out"),
    "look": N_("{query} → {key}  {value} · distance {distance}"),
    "no_looks": N_("None: the text is shorter than that, or the head does not look that far."),
    "wait": N_("Looking for them …"),
    "hint": N_("Drag to move, wheel or pinch to zoom, click to pin a cell."),
    "undefined": N_("masked"),
    "percent": N_("{number} %"),
}

SOURCE = read_source(Path(__file__).parent, "long_map", '<div class="long-map">\n</div>')


@dataclass(frozen=True)
class MapBand:
    """A label along the cells whose query is ``distance`` tokens after the key, on their far side."""

    distance: int
    words: str
    short: str
    """The label if there is no room for all of it."""


@dataclass(frozen=True, eq=False)
class LongMapPicture(ColoredPicture):
    """The map's initial state; its numbers come by HTTP. It sends `cell`, `window` and `refused`.

    `cell` is [query, key], [query, null] for a row only, or null; `refused` is a ticket that is no longer valid.
    """

    labels: Sequence[str]
    causal: bool
    """Whether attention is causal."""
    layer: int
    head: int
    ticket: str
    """The ticket of its requests; if empty, nothing is requested."""
    pooling: Literal["max", "mean"]
    log: bool
    far: int
    """Smallest distance in tokens of a long-range link."""
    window: Window | None
    """In tokens, stop exclusive; null: the whole map."""
    selected: CellOrRow | None
    """A cell, a row only, or nothing."""
    texts: Texts
    max_height: int = 596
    low: float = LOW
    """Start of a logarithmic scale."""
    bands: Sequence[MapBand] = ()
    """Labels of the map's bands; shown while the bands are narrow."""

    @sent
    def tokens(self) -> int:
        """Number of tokens."""
        return len(self.labels)
