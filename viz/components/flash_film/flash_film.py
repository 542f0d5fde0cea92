"""FlashAttention as a film: tiles in order, the contents of fast memory, memory traffic, and one row's sums.

Everything is computed in the browser from the scores and values that are sent. Sends "frame", the one at which the
reader stops, and "row", the query whose sums are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from viz.components.picture import ColoredPicture, Floats, Texts
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "start": N_("to the start"),
    "back": N_("one step back"),
    "play": N_("play"),
    "pause": N_("pause"),
    "step": N_("next"),
    "scrub": N_("place in the film"),
    "speed": N_("speed"),
    "per_second": N_("{number} a second"),
    "frame": N_("{frame} of {count}"),
    "map": N_("The tiles: rows are queries, columns keys. Arrow keys choose the row whose sums are shown."),
    "hidden": N_("Skipped, since the mask hides all of them: {count} of {total} tiles."),
    "at_start": N_("Nothing has been computed yet."),
    "at_start_keys": N_("O = 0, m = −∞ and ℓ = 0 are written for every query."),
    "reading": N_("Read: {what}."),
    "computing": N_("Computed in SRAM: queries {queries} with keys {keys}."),
    "writing": N_("Written: {what}."),
    "done": N_("Done: every row is softmax."),
    "sram": N_("In SRAM"),
    "room": N_("{used} of {room}"),
    "empty": N_("empty"),
    "moved": N_("Moved from and to HBM"),
    "tiled": N_("by tiles"),
    "plain": N_("plain"),
    "plain_parts": N_("Plain attention’s scores and weights, {cells} each, are written and read: {bytes}."),
    "ahead": N_("Grey is still to come. 1 KB is 1,024 bytes."),
    "row": N_("The row of {token}"),
    "row_chart": N_("{token}: shares of its keys so far; outlined, softmax’s."),
    "tile": N_("keys"),
    "tile_max": N_("largest score"),
    "kept_max": N_("m so far"),
    "shrink": N_("all before ×"),
    "sum": N_("sum ℓ"),
    "off": N_("off softmax"),
    "off_hint": N_("Largest difference of its output from softmax’s, computed all at once."),
    "not_met": N_("It has met no key yet."),
    "no_keys": N_("It sees no key: its output stays 0."),
    "more_tiles": N_("tiles before: {count}"),
    "row_done": N_("Its last tile is met: it is softmax."),
}  # fmt: skip  # a text a line

SOURCE = read_source(Path(__file__).parent, "flash_film", '<div class="flash-film">\n</div>')


@dataclass(frozen=True, eq=False)
class FlashFilmPicture(ColoredPicture):
    """Tiles of `rows` queries and `columns` keys."""

    scores: Floats
    """[queries, keys] before the softmax; −∞ where masked."""
    v: Floats
    """[keys, d_value]"""
    labels: Sequence[str]
    first: int
    """Number of the first token in the text."""
    d_head: int
    """Dimension of a key."""
    size: int
    """Bytes per number."""
    rows: int
    columns: int
    order: Literal["keys", "queries"]
    """What the outer loop iterates over."""
    sram: int
    """Numbers that fit in fast memory."""
    sink: float | None
    """A learned sink's logit."""
    row: int
    """The query whose sums are shown."""
    frame: int
    texts: Texts
