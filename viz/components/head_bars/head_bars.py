"""Some heads in falling order of one number, as bars, one of them open; a click opens another.

Sends the state "head": [layer, head].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import pack
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "percent": N_("{number} %"),
    "open": N_("the open head: {head} · {value}, place {place} of {count}"),
    "rest": N_("{count} other heads, each at most {value}"),
    "rest_one": N_("one other head, {value}"),
}

SOURCE = read_source(Path(__file__).parent, "head_bars", '<div class="head-bars">\n</div>')


def payload(
    *,
    heads: Sequence[tuple[int, int]],
    values: NDArray[np.floating],
    total: int,
    most_left: float,
    selected: tuple[int, int],
    place: int | None,
    value: float,
    texts: Mapping[str, str],
    shows: str = "",
) -> bytes:
    """Each of `heads`, best first, with its share in 0..1. The component sends `head`: [layer, head].

    `total` heads are ranked, and those that are left out have at most `most_left`. Where the open head, `selected`, is
    one of those left out, its `value` and its `place` among all, from 1, stand below; `place` None: it is not ranked.
    `shows` is the key of the part of the page that a click changes: on a narrow screen the page scrolls to it.

    Texts: those of `TEXTS`, and `summary`, the name of the list.
    """
    if values.shape != (len(heads),):
        raise ValueError(f"{len(heads)} heads but values of shape {values.shape}")
    meta = {
        "heads": [[int(layer), int(head)] for layer, head in heads],
        "total": int(total),
        "most_left": float(most_left),
        "selected": [int(i) for i in selected],
        "place": place,
        "value": float(value),
        "shows": shows,
        "texts": dict(texts),
        "palette": palette(),
    }
    return pack(meta, {"values": np.asarray(values, dtype=np.float32)})
