"""Some heads in falling order of one number, as bars, one of them open; a click opens another.

Sends the state "head": [layer, head].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import ColoredPicture, Floats, HeadPlace, Texts
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "percent": N_("{number} %"),
    "open": N_("the open head: {head} · {value}, place {place} of {count}"),
    "rest": N_("{count} other heads, each at most {value}"),
    "rest_one": N_("one other head, {value}"),
}

SOURCE = read_source(Path(__file__).parent, "head_bars", '<div class="head-bars">\n</div>')


@dataclass(frozen=True, eq=False)
class HeadBarsPicture(ColoredPicture):
    """The best heads, each with its share. The component sends `head`: [layer, head].

    Where the open head, `selected`, is one of those left out, its `value` and its `place` stand below. ValueError where
    heads and values are not as many. Texts: those of `TEXTS`, and `summary`, the name of the list.
    """

    heads: Sequence[HeadPlace]
    """Best first."""
    values: Floats
    """[heads], 0..1."""
    total: int
    """Heads that are ranked."""
    most_left: float
    """Those that are left out have at most this."""
    selected: HeadPlace
    place: int | None
    """Of the open head among all, from 1; null where it is not ranked."""
    value: float
    """That of the open head."""
    texts: Texts
    shows: str = ""
    """The key of the part of the page that a click changes, to which a narrow page scrolls, or ""."""

    def __post_init__(self) -> None:
        """Check the shape."""
        if self.values.shape != (len(self.heads),):
            raise ValueError(f"{len(self.heads)} heads but values of shape {self.values.shape}")
