"""The head_map component's payload as self-contained SVG, for files and prints: one map, or several in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viz.components.packing import unpack
from viz.figure_svg import Drawn, drawn_map, map_width
from viz.svg import FONT, MARGIN, document, element, text
from viz.token_text import ems, shortened

_SIDES = (520, 380)  # approximate longer side of the cells, for one map and for several
_LEAST_SIDE = 60  # of a map on paper
_HEADING_EMS = 30.0  # longer headings are cut
_TITLE = 26  # room for the title of several


def drawn_maps_svg(
    maps: bytes | Mapping[str, bytes], *, title: str, caption: str, room: float | None = None, every_row: bool = False
) -> str:
    """One map, or several from left to right, each under its heading, as on the screen.

    Values, window, labels, colours, pins and axis titles are those of the component. With `room` a single map is made
    small enough for this width, in units of the file, as for a paper: title and caption are in the file's metadata and
    not drawn. With `every_row` rows are high enough for each to have its label.
    """
    if isinstance(maps, bytes) and room is not None:
        one = _drawn(maps, "", _side_in(maps, room), paper=True, every_row=every_row)
        return document(one.body, width=one.width, below=one.below, title=title, caption=caption, bare=True)
    if isinstance(maps, bytes):
        one = _drawn(maps, title, _SIDES[0])
        return document(one.body, width=one.width, below=one.below, title=title, caption=caption, room=MARGIN / 2 - 4)
    left, below, body = 0.0, 0.0, list[str]()
    for nth, (name, payload) in enumerate(maps.items()):
        heading = shortened(name, _HEADING_EMS)
        one = _drawn(payload, heading, _SIDES[1], nth)
        above = text(heading, "bold", x=MARGIN, y=MARGIN + 14)
        body.append(element("g", above, *one.body, transform=f"translate({left:g} {_TITLE})"))
        left, below = left + one.width, max(below, one.below + _TITLE)
    width = max(left, ems(title) * (FONT + 3) + 2 * MARGIN)
    return document(body, width=width, below=below, title=title, caption=caption, room=MARGIN / 2 - 4)


def _drawn(
    payload: bytes, headed: str, side: int, nth: int = 0, *, paper: bool = False, every_row: bool = False
) -> Drawn:
    meta, arrays = unpack(payload)
    words = {"row_axis": "axis_query", "column_axis": "axis_key", "masked": "masked_label", "percent": "percent"}
    words |= {"left_out": "left_out_label"} if "left_out_label" in meta["texts"] else {}
    return drawn_map(
        arrays["values"], row_labels=meta["row_labels"], col_labels=meta["col_labels"], scale=meta["scale"],
        low=meta["low"], high=meta["high"], log=meta["log"], number=meta["number"], headed=headed, side=side,
        nth=nth, left_out=arrays["left_out"] > 0 if "left_out" in arrays else None,
        texts={name: meta["texts"][here] for name, here in words.items()}, pinned=_pinned(meta), paper=paper,
        every_row=every_row,
    )  # fmt: skip  # the map's many settings in four lines


def _side_in(payload: bytes, room: float) -> int:
    """The longest side with which a map is no wider than this."""
    meta, arrays = unpack(payload)
    rows, columns = arrays["values"].shape
    sides = range(_SIDES[0], _LEAST_SIDE, -2)
    fit = (side for side in sides if map_width(rows, columns, meta["row_labels"], meta["col_labels"], side) <= room)
    return next(fit, _LEAST_SIDE)


def _pinned(meta: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The pinned row and column of the picture; in a pooled map those that contain the pinned units."""
    if meta["selected"] is None:
        return None, None
    starts, ends = (meta["window"][0], meta["window"][2]), (meta["window"][1], meta["window"][3])
    row, column = (
        None if unit is None or not start <= unit < end else (unit - start) // pool
        for unit, start, end, pool in zip(meta["selected"], starts, ends, meta["pool"], strict=True)
    )
    return row, column
