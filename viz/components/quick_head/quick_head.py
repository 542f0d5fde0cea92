"""The selected head's map, requested by HTTP at once and painted before the page has run.

Draws nothing itself. It observes which head is selected in the grid beside it and passes the response to the map; the
page's own run sends the same bytes shortly after, with everything around them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import HeadPlace, Picture
from viz.components.source import read_source

SOURCE = read_source(Path(__file__).parent, "quick_head", '<div class="quick-head"></div>\n')


@dataclass(frozen=True, eq=False)
class QuickHeadPicture(Picture):
    """Where and what to request."""

    ticket: str
    """This and `way` are those of jobs/head_prefetch.py."""
    way: int
    base: str
    """The server's base path, such as "/atlas"."""
    of: HeadPlace
    """The head that the page itself shows."""
