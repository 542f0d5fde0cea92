"""The open head's map as an export: picture, page, tables and code."""

from __future__ import annotations

import numpy as np

from analysis.read_head import described, labels, maps_of, python_lines
from analysis.tables import tables_of_head
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.head_views import DrawnHead
from viz.components.head_map import head_map as map_component
from viz.drawn_maps_svg import drawn_maps_svg


def head_view(drawn: DrawnHead) -> ExportBundle:
    """The map in view, with code that gives the same array."""
    view = drawn.read.view
    rows, columns = labels(view)
    minus = "" if drawn.read.other is None else "-minus-L{}H{}".format(*drawn.read.other)
    return ExportBundle(
        name=f"attention-{drawn.read.name}{minus}",
        title=drawn.read.name,
        what=described(drawn.read),
        tables=lambda: tables_of_head(drawn.read),
        page=component_page(map_component.SOURCE, drawn.payload),
        picture=lambda title, words: drawn_maps_svg(drawn.payload, title=title, caption=words),
        fitted=lambda title, words, room: drawn_maps_svg(drawn.payload, title=title, caption=words, room=room),
        arrays=lambda: (
            {"values": view.values, "queries": np.array(rows), "keys": np.array(columns)}
            | {name: one.values for name, one in maps_of(drawn.read).items() if one is not view}
        ),
        code=python_lines(drawn.read),
    )
