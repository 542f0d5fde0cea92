"""The open head's map beside a question to a single learner: what is needed to answer, without the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ui.shared.head_views import draw_head
from ui.shell.components import mount
from ui.shell.page import PageContext, settle
from viz.components.head_map import head_map

BESIDE = ("", "edit_heads")  # pages on which the open head's map stands beside every question


def shows_map(page: str, kind: str) -> bool:
    """Return True if a question of this kind on this page needs the map."""
    return kind == "where" or page in BESIDE


def show_asked_map(opened: PageContext, kind: str, answer: Callable[[str], None]) -> None:
    """Show the map with the queried row covered; a click in that row answers with the key's position."""
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
