"""One or two heads as lines between two columns of tokens: who looks, on the left, and who is looked at.

Sends the state "query": the pinned query's position, or None when it is released; and "cell", [query, key], for a key
that is pinned or, None, released: the query is the pinned one, None where none of those drawn is.
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
    "summary": N_("Lines from each token to the tokens it looks at."),
    "queries": N_("looking (query)"),
    "keys": N_("looked at (key)"),
    "line": N_("{query} looks {value} at {key}"),
    "looked_at": N_("{key} is looked at most by {query}: {value}"),
    "threshold": N_("Lines under {value} are left out."),
    "cut": N_("Only the first {count} tokens of each column are drawn."),
    "percent": N_("{number} %"),
}

MAX_ROWS = 96
THRESHOLD = 0.02

SOURCE = read_source(Path(__file__).parent, "token_lines", '<div class="token-lines"></div>\n')


def payload(
    *,
    queries: Sequence[str],
    keys: Sequence[str],
    query_offset: int,
    key_offset: int,
    weights: NDArray[np.floating],
    head_labels: Sequence[str],
    selected: int | None,
    texts: Mapping[str, str],
    looked_at: int | None = None,
    max_height: int = 560,
) -> bytes:
    """The lines of `weights` [heads, queries, keys], 0..1, NaN where masked; one or two heads.

    `query_offset` and `key_offset` are the positions of the first label of each column; `selected`, the pinned query,
    and `looked_at`, the pinned key, are positions.
    At most 96 rows of each column are drawn, the first ones, and the figure says when that cut something.
    """
    expected = (len(head_labels), len(queries), len(keys))
    if weights.shape != expected or not 1 <= len(head_labels) <= 2:
        raise ValueError(f"weights of shape {weights.shape}; expected one or two heads and the labels' {expected}")
    meta = {
        "queries": list(queries[:MAX_ROWS]),
        "keys": list(keys[:MAX_ROWS]),
        "query_offset": query_offset,
        "key_offset": key_offset,
        "head_labels": list(head_labels),
        "selected": selected,
        "looked_at": looked_at,
        "threshold": THRESHOLD,
        "cut": max(len(queries), len(keys)) > MAX_ROWS,
        "max_rows": MAX_ROWS,
        "max_height": max_height,
        "texts": dict(texts),
        "palette": palette(),
    }
    drawn = weights[:, :MAX_ROWS, :MAX_ROWS]
    return pack(meta, {"weights": np.ascontiguousarray(drawn, dtype=np.float32)})
