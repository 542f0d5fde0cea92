"""The map of the open head beside a question to who learns alone: what is needed to answer, without the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ui.shared.head_views import draw_head
from ui.shell.components import mount
from ui.shell.page import PageContext, settle
from viz.components.head_map import head_map

BESIDE = ("", "edit_heads")  # pages on which the open head's map stands beside any question


def shows_map(page: str, kind: str) -> bool:
    """Whether the map belongs to a question of this kind on the page at this address."""
    return kind == "where" or page in BESIDE


def show_asked_map(opened: PageContext, kind: str, answer: Callable[[str], None]) -> None:
    """The map, a row that is asked about covered; a click in that row answers with the key's position."""
    opened, query, _most = settle(opened)
    opened = replace(opened, key=None)  # a pinned key would be the answer
    asked = query if kind == "where" else None
    drawn = draw_head(opened, None, covered=asked, max_height=420)
    units = drawn.read.view.units

    def click(cell: list[int | None] | None) -> None:
        row, column = cell if cell is not None else (None, None)
        if row is not None and column is not None and units[row].stop - 1 == asked:
            answer(str(units[column].stop - 1))

    on = {"cell": click, "window": lambda _edges: None}
    mount(head_map.SOURCE, drawn.payload, key="asked_map", on=on, followed=False)
