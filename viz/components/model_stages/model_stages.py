"""What a model is made of, from top to bottom, and the vector of one token at each stage as a strip.

Knows nothing about models: it gets rows of words, shares and vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import pack
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

SOURCE = read_source(Path(__file__).parent, "model_stages", '<div class="model-stages">\n</div>')

TEXTS: dict[str, str] = {
    "label": N_("What the model is made of, from top to bottom"),
    "dimension": N_("{title} · dimension {dimension}: {value}"),
}


@dataclass(frozen=True)
class StageRow:
    """A stage. ``kind`` gives its mark: "stage", "block", "norm", "part" or "sum". ``share`` of 1 is a full bar.

    ``block`` is told when the row is clicked; None: nothing happens. ``depth`` 1 stands inside the open block.
    """

    kind: str
    title: str
    module: str = ""
    shapes: str = ""
    size: str = ""
    share: float | None = None
    length: str = ""
    depth: int = 0
    block: int | None = None
    open: bool = False


def payload(
    rows: Sequence[StageRow],
    vectors: NDArray[np.floating],
    *,
    columns: Sequence[str],
    texts: Mapping[str, str],
    max_height: int = 780,
) -> bytes:
    """The packed rows; `vectors` [rows, d] are drawn each to its own largest number, NaN as none.

    `columns` are the headings: of names, shapes, sizes and strips. It sends `block`: that of the row that was clicked.
    """
    if len(rows) != len(vectors):
        raise ValueError(f"{len(vectors)} vectors for {len(rows)} rows")
    meta = {
        "rows": [vars(row) for row in rows],
        "columns": list(columns),
        "max_height": max_height,
        "texts": dict(texts),
        "palette": palette(),
    }
    return pack(meta, {"vectors": vectors.astype(np.float32)})
