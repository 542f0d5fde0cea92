"""Every head of every layer on one canvas: thumbnails or metric cells, one of them selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from viz.components.picture import UNSENT, Bytes, ColoredPicture, Floats, HeadPlace, Ints, NumberKind, Texts, sent
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "summary": N_("Every head as a small map: layers down, heads across. Arrow keys move, Enter opens a head."),
    "head": N_("{head} · {metric} {value}"),
    "undefined": N_("not defined here"),
    "no_weights": N_("no softmax attention in this layer"),
    "percent": N_("{number} %"),
    "shared": N_("{heads} share k and v"),
    "more": N_("↓ {count} more heads"),
    "left_out_label": N_("not chosen"),
    "frame": N_("Thin frame: {metric}, faint at {low}, strong at {high}. Thick: the open head."),
}

SOURCE = read_source(Path(__file__).parent, "head_grid", '<div class="head-grid">\n</div>')


@dataclass(frozen=True, eq=False)
class HeadGridPicture(ColoredPicture):
    """Every head as a small map, or as a coloured cell. The component sends `head`: [layer, head].

    `metric` sets the strength of a frame (maps) or of the cell (metric) between `low` and `high`, by default 0 (or the
    smallest, if negative) and the largest. Raises ValueError if arrays do not match.

    Texts: `summary`, `head` ("{head} · {metric} {value}"), `metric`, `undefined`, `no_weights`, and `percent`
    ("{number} %") if numbers are percentages, else `unit` ("{number} bits"); `shared` ("{heads} share …") describes the
    selected head's group, `more` ("{count} …") the heads below those in view, `frame` ("{metric} … {low} … {high}") the
    frames of maps, `left_out_label` the cells of `left_out`.
    """

    thumbnails: Bytes
    """[layers, heads, n, n], 0..255 = darkest."""
    keep: Bytes
    """[layers, n, n]: 0 where masked completely."""
    metric: Floats
    """[layers, heads], NaN where undefined."""
    mode: Literal["maps", "metric"]
    order: Ints | None
    """Heads as layer × heads + head, best first; may be incomplete. Without it rows are layers."""
    layer_has_weights: Sequence[bool]
    selected: HeadPlace
    compare: HeadPlace | None
    groups: int
    """Adjacent heads that share a key/value head."""
    texts: Texts
    metric_range: Annotated[tuple[float, float] | None, UNSENT] = None
    number: NumberKind = "plain"
    max_height: int = 520
    shows: str = ""
    """Key of the page element that a click changes, to which a narrow page scrolls, or ""."""
    left_out: Bytes | None = None
    """[layers, n, n]: 1 where a cell is masked because an indexer did not select its keys."""

    def __post_init__(self) -> None:
        """Check the shapes."""
        layers, heads, n, _ = self.thumbnails.shape
        told, keep, metric = len(self.layer_has_weights), self.keep.shape, self.metric.shape
        if keep != (layers, n, n) or metric != (layers, heads) or told != layers:
            raise ValueError(
                f"{layers} layers × {heads} heads of {n}×{n} pixels do not fit keep {keep}, metric {metric} and "
                f"{told} layers with or without weights"
            )

    @sent
    def low(self) -> float:
        """Metric of the weakest frame."""
        return self._ends()[0]

    @sent
    def high(self) -> float:
        """Metric of the strongest frame."""
        return self._ends()[1]

    def _ends(self) -> tuple[float, float]:
        defined = self.metric[np.isfinite(self.metric)]
        if self.metric_range is not None:
            return self.metric_range
        if defined.size == 0:
            return 0.0, 1.0
        low, high = min(0.0, float(defined.min())), float(defined.max())
        return low, high if high > low else low + 1.0
