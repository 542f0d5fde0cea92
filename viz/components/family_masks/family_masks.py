"""The kinds of transformers side by side, each as a small grid of who may look at whom; one of them is open.

Sends "kind", the name of the one to open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack
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
    """One kind: `use` says what it is for, `who` which models are of it, `note` what is to be said of this picture.

    `cells` [queries, keys]: 0 not seen, 1 seen at or before the query, 2 seen after it, 3 seen across two texts, of
    which the first has `n_read` tokens; 0 for a single one. `cut` tokens are not drawn.
    """

    name: str
    title: str
    use: str
    who: str
    note: str
    tokens: Sequence[str]
    cells: NDArray[np.uint8]
    n_read: int = 0
    cut: int = 0


def payload(*, kinds: Sequence[Kind], selected: str, texts: Mapping[str, str]) -> bytes:
    """The packed cards. ValueError where a grid does not fit its tokens, or none has the name `selected`."""
    if any(kind.cells.shape != (len(kind.tokens), len(kind.tokens)) for kind in kinds):
        raise ValueError(f"{[len(kind.tokens) for kind in kinds]} tokens, {[kind.cells.shape for kind in kinds]} cells")
    if selected not in [kind.name for kind in kinds]:
        raise ValueError(f"{selected!r} is none of {[kind.name for kind in kinds]}")
    side = max(len(kind.tokens) for kind in kinds)
    cells = np.zeros((len(kinds), side, side), np.uint8)  # each in the upper left corner of its own
    for one, kind in zip(cells, kinds, strict=True):
        one[: len(kind.tokens), : len(kind.tokens)] = kind.cells
    meta: dict[str, JSON] = {
        "kinds": [
            {
                "name": kind.name,
                "title": kind.title,
                "use": kind.use,
                "who": kind.who,
                "note": kind.note,
                "tokens": list(kind.tokens),
                "n_read": kind.n_read,
                "cut": kind.cut,
            }
            for kind in kinds
        ],
        "selected": selected,
        "texts": dict(texts),
        "palette": palette(),
    }
    return pack(meta, {"cells": cells})
