"""One head's map at any length: tiles that come from the server as they are looked at, with search and far looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from viz.components.picture import CellOrRow, ColoredPicture, Texts, Window, sent
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


@dataclass(frozen=True)
class MapBand:
    """Words that stand along the cells whose query is ``distance`` tokens after the key, outside of them."""

    distance: int
    words: str
    short: str
    """Where there is no room for all."""


@dataclass(frozen=True, eq=False)
class LongMapPicture(ColoredPicture):
    """What the map begins with; its numbers come by HTTP. It sends `cell`, `window` and `refused`.

    `cell` is [query, key], [query, null] for a row alone, or null; `refused` is the ticket for which nothing is
    answered any more.
    """

    labels: Sequence[str]
    causal: bool
    """No query sees a key after it."""
    layer: int
    head: int
    ticket: str
    """What the server answers for; empty: nothing is asked."""
    pooling: Literal["max", "mean"]
    log: bool
    far: int
    """Tokens that a look must go back to be called far."""
    window: Window | None
    """In tokens, ends excluded; null: the whole map."""
    selected: CellOrRow | None
    """A cell, a row alone, or nothing."""
    texts: Texts
    max_height: int = 596
    low: float = LOW
    """Where a logarithmic scale begins."""
    bands: Sequence[MapBand] = ()
    """What the bands of the map are; shown while the bands are narrow."""

    @sent
    def tokens(self) -> int:
        """How many there are."""
        return len(self.labels)
