"""The grid of all heads as thumbnails, and clicks on them."""

from __future__ import annotations

from html import escape

import numpy as np

from analysis.head_grid import HeadGrid
from analysis.head_names import group_size
from attention.metrics import Metric
from model_runner.capture import COMPRESSED
from pages.heads.state import HeadsState, Other
from ui.shell.components import mount, name_figure
from ui.shell.fragment_first import rerun_fragment
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.wording.i18n import _
from ui.wording.sentences import with_unit
from viz.components.head_grid import head_grid as grid_component


def show_grid(opened: PageContext, grid: HeadGrid, held: HeadsState, metric: Metric, other: Other) -> None:
    """Show every head of every layer; a click opens one."""
    share = metric.unit == "share"
    payload = grid_component.HeadGridPicture(
        thumbnails=grid.thumbnails,
        keep=grid.keep,
        left_out=grid.left_out,
        metric=grid.metrics[metric.name],
        mode=held.grid,
        order=np.array(grid.ranking(metric.name), np.int32) if held.order == "rank" else None,
        layer_has_weights=grid.has_weights,
        selected=(opened.layer, opened.head),
        compare=other,
        groups=group_size(opened.capture, opened.layer),
        texts=_texts(opened) | {"metric": _(metric.label), "unit": with_unit(metric.unit)},
        metric_range=(0.0, 1.0) if share else None,
        number="percent" if share else "plain",
        max_height=430,
        shows="map_heading",
    ).packed()
    name_figure(escape(_(metric.label)), escape(_(metric.definition)))
    mount(grid_component.SOURCE, payload, key="head_grid", on={"head": _open_head})


def _texts(opened: PageContext) -> dict[str, str]:
    if opened.capture.request.attention == COMPRESSED:
        return translated(grid_component.TEXTS) | {"no_weights": _("this layer reads only single tokens")}
    return translated(grid_component.TEXTS)


def _open_head(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[0]), head=int(place[1]))
        rerun_fragment("open_head")
