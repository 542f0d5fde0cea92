"""The chosen head's map, asked for by HTTP as soon as it is chosen: it is painted before the page has run.

Draws nothing. It hears which head is chosen in the grid beside it and hands what comes to the map; the page's own run
brings the same bytes a moment later, with all that stands around them.
"""

from __future__ import annotations

from pathlib import Path

from viz.components.packing import pack
from viz.components.source import read_source

SOURCE = read_source(Path(__file__).parent, "quick_head", '<div class="quick-head"></div>\n')


def payload(*, ticket: str, way: int, base: str, of: tuple[int, int]) -> bytes:
    """`ticket` and `way` are those of jobs/head_prefetch.py; the server stands below `base`: "/atlas", say.

    `of` is the head that the page shows by itself, by layer and head.
    """
    return pack({"ticket": ticket, "way": way, "base": base, "of": list(of)}, {})
