"""The kinds of transformers side by side, each as a small attention mask; one of them is open.

Sends "kind", the name of the one to open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from viz.components.picture import Bytes, ColoredPicture, Texts, sent
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "kinds": N_("kinds of models"),
    "sees": N_("{query} sees {key}."),
    "ahead": N_("{query} sees {key}, which comes after it."),
    "across": N_("{query}, which is written, sees {key}, which was read."),
    "hidden": N_("{query} does not see {key}."),
    "counts": N_("{title}: {seen} of {cells} cells are seen."),
    "rows": N_("Each row is a token looking; filled is where it may look."),
    "legend_before": N_("itself and before it"),
    "legend_after": N_("after it"),
    "legend_across": N_("the other text"),
    "read": N_("read"),
    "written": N_("written"),
    "cut": N_("Drawn without the last {count} tokens."),
}

SOURCE = read_source(Path(__file__).parent, "family_masks", '<div class="family-masks">\n</div>')


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of attention."""

    name: str
    title: str
    use: str
    """What it is used for."""
    who: str
    """Models of this kind."""
    note: str
    """A note about this picture."""
    tokens: Sequence[str]
    cells: Bytes
    """[queries, keys]: 0 masked, 1 visible at or before the query, 2 after it, 3 across two texts."""
    n_read: int = 0
    """Tokens of the source, if there is a target; 0 for a single text."""
    cut: int = 0
    """Tokens that are not drawn."""


@dataclass(frozen=True, eq=False)
class FamilyMasksPicture(ColoredPicture):
    """The cards. Raises ValueError if a grid does not match its tokens, or none has the name `selected`."""

    kinds: Sequence[Kind]
    selected: str
    texts: Texts

    def __post_init__(self) -> None:
        """Check the shapes and the name."""
        kinds = self.kinds
        if any(kind.cells.shape != (len(kind.tokens), len(kind.tokens)) for kind in kinds):
            raise ValueError(
                f"{[len(kind.tokens) for kind in kinds]} tokens, {[kind.cells.shape for kind in kinds]} cells"
            )
        if self.selected not in [kind.name for kind in kinds]:
            raise ValueError(f"{self.selected!r} is none of {[kind.name for kind in kinds]}")

    @sent
    def cells(self) -> Bytes:
        """[kinds, side, side], each kind's mask in the upper left corner."""
        side = max(len(kind.tokens) for kind in self.kinds)
        cells = np.zeros((len(self.kinds), side, side), np.uint8)
        for one, kind in zip(cells, self.kinds, strict=True):
            one[: len(kind.tokens), : len(kind.tokens)] = kind.cells
        return cells
