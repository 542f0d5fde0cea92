"""The chosen head's map, asked for by HTTP as soon as it is chosen: it is painted before the page has run.

Draws nothing. It hears which head is chosen in the grid beside it and hands what comes to the map; the page's own run
brings the same bytes a moment later, with all that stands around them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import HeadPlace, Picture
from viz.components.source import read_source

SOURCE = read_source(Path(__file__).parent, "quick_head", '<div class="quick-head"></div>\n')


@dataclass(frozen=True, eq=False)
class QuickHeadPicture(Picture):
    """Where to ask, and for what."""

    ticket: str
    """This and `way` are those of jobs/head_prefetch.py."""
    way: int
    base: str
    """The server stands below it: "/atlas", say."""
    of: HeadPlace
    """The head that the page shows by itself."""
