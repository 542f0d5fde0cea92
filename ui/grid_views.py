"""The grid of every head as a thumbnail, and what a click on one does."""

from __future__ import annotations

import numpy as np

from analysis.head_grid import HeadGrid
from attention.metrics import Metric
from ui import session
from ui.components import mount
from ui.i18n import _
from ui.page import Opened, translated
from viz.components.head_grid import head_grid as grid_component

N_ = str  # marks a text for Babel without translating it here

GRID_TEXTS = {
    "summary": N_("Every head as a small map: layers down, heads across. Arrow keys move, Enter opens a head."),
    "head": N_("{head} · {metric} {value}"),
    "undefined": N_("not defined here"),
    "no_weights": N_("no softmax attention in this layer"),
    "percent": N_("{number} %"),
    "shared": N_("{heads} share k and v"),
}


def show_grid(
    opened: Opened, grid: HeadGrid, metric: Metric, *, mode: str, ranked: bool, other: tuple[int, int] | None
) -> None:
    """Every head of every layer; a click opens one."""
    share = metric.unit == "share"
    payload = grid_component.payload(
        thumbnails=grid.thumbnails,
        keep=grid.keep,
        metric=grid.metrics[metric.name],
        mode="metric" if mode == "metric" else "maps",
        order=np.array(grid.ranking(metric.name), np.int32) if ranked else None,
        layer_has_weights=grid.has_weights,
        selected=(opened.layer, opened.head),
        compare=other,
        groups=opened.capture.record(opened.layer).group,
        texts=translated(GRID_TEXTS) | {"metric": _(metric.label)},
        metric_range=(0.0, 1.0) if share else None,
        number="percent" if share else "plain",
        max_height=430,
    )
    mount(grid_component.SOURCE, payload, key="head_grid", on={"head": _open_head})


def _open_head(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[0]), head=int(place[1]))
