"""Every head of every layer as one canvas: thumbnails or metric cells, one of them selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import pack
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


def payload(
    *,
    thumbnails: NDArray[np.uint8],
    keep: NDArray[np.uint8],
    metric: NDArray[np.float32],
    mode: Literal["maps", "metric"],
    order: NDArray[np.int32] | None,
    layer_has_weights: Sequence[bool],
    selected: tuple[int, int],
    compare: tuple[int, int] | None,
    groups: int,
    texts: Mapping[str, str],
    metric_range: tuple[float, float] | None = None,
    number: Literal["percent", "plain"] = "plain",
    max_height: int = 520,
    shows: str = "",
    left_out: NDArray[np.uint8] | None = None,
) -> bytes:
    """The packed grid. The component sends `head`: [layer, head].

    `thumbnails` [layers, heads, n, n] run from 0 to 255 = darkest; `keep` [layers, n, n] is 0 where all is masked;
    `left_out` [layers, n, n] is 1 where that is so since an indexer did not choose the keys.
    `metric` [layers, heads] sets the strength of a frame (maps) or of the cell (metric) between the two ends of
    `metric_range`, by default 0 (or the smallest, if negative) and the largest; NaN is not defined. `order` lists flat
    indices layer * heads + head, best first, and may leave heads out; None keeps the rows by layer. `groups` is the
    number of neighbouring heads that share one key and value head. `shows` is the key of the part of the page that a
    click changes: on a narrow screen the page scrolls to it.

    Texts: `summary`, `head` ("{head} · {metric} {value}"), `metric`, `undefined`, `no_weights`, and `percent`
    ("{number} %") where numbers are percentages, else `unit` ("{number} bits"); `shared` ("{heads} share …") is said
    of the selected head's group, `more` ("{count} …") of the heads below those in view, `frame`
    ("{metric} … {low} … {high}") of the frames of maps, `left_out_label` of the cells of `left_out`.
    """
    layers, heads, n, _ = thumbnails.shape
    if keep.shape != (layers, n, n) or metric.shape != (layers, heads) or len(layer_has_weights) != layers:
        raise ValueError(
            f"{layers} layers × {heads} heads of {n}×{n} pixels do not fit keep {keep.shape}, "
            f"metric {metric.shape} and {len(layer_has_weights)} layers with or without weights"
        )
    low, high = metric_range or _range(metric)
    arrays: dict[str, NDArray[Any]] = {
        "thumbnails": thumbnails.astype(np.uint8, copy=False),
        "keep": keep.astype(np.uint8, copy=False),
        "metric": metric.astype(np.float32, copy=False),
    }
    if left_out is not None:
        arrays["left_out"] = left_out.astype(np.uint8, copy=False)
    if order is not None:
        arrays["order"] = np.asarray(order, dtype=np.int32)
    meta = {
        "mode": mode,
        "layer_has_weights": [bool(has) for has in layer_has_weights],
        "selected": [int(i) for i in selected],
        "compare": None if compare is None else [int(i) for i in compare],
        "groups": int(groups),
        "low": float(low),
        "high": float(high),
        "number": number,
        "max_height": max_height,
        "shows": shows,
        "texts": dict(texts),
        "palette": palette(),
    }
    return pack(meta, arrays)


def _range(metric: NDArray[np.float32]) -> tuple[float, float]:
    defined = metric[np.isfinite(metric)]
    if defined.size == 0:
        return 0.0, 1.0
    low, high = min(0.0, float(defined.min())), float(defined.max())
    return low, high if high > low else low + 1.0
