"""Some heads by decreasing value, as bars, one of them open; a click opens another.

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
    """The top heads with their values. The component sends `head`: [layer, head].

    If the open head, `selected`, is not among them, its `value` and `place` are shown below. Raises ValueError if heads
    and values differ in number. Texts: those of `TEXTS`, and `summary`, the name of the list.
    """

    heads: Sequence[HeadPlace]
    """Best first."""
    values: Floats
    """[heads], 0..1."""
    total: int
    """Number of ranked heads."""
    most_left: float
    """Upper bound of the heads that are not listed."""
    selected: HeadPlace
    place: int | None
    """Rank of the open head among all, from 1; null if it is not ranked."""
    value: float
    """Value of the open head."""
    texts: Texts
    shows: str = ""
    """Key of the page element that a click changes, to which a narrow page scrolls, or ""."""

    def __post_init__(self) -> None:
        """Check the shape."""
        if self.values.shape != (len(self.heads),):
            raise ValueError(f"{len(self.heads)} heads but values of shape {self.values.shape}")
