"""Before and after a change of the model's forward, side by side: the open head's map and the next token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from analysis.comparison import NextTokenChange, change_at, drift_of_head, head_drift
from analysis.head_map import HeadMap
from analysis.number_text import error_size
from analysis.tables import map_table, side_by_side
from model_runner import Capture
from model_runner.errors import EditNotPossible
from ui import cached, head_views, session
from ui.components import show_heading, show_html
from ui.head_export import head_view
from ui.head_views import DrawnHead, draw_head
from ui.i18n import _
from ui.page import PageContext, translated
from ui.view import View, arrays_of, component_page
from ui.wording import number
from viz.components.head_map import head_map as map_component
from viz.distribution import TEXTS, next_token_changes
from viz.drawn_maps_svg import drawn_maps_svg

N_ = str  # marks a text for Babel without translating it here

MAP_HEIGHT = 400  # pixels; two maps and the list stand side by side

Clicked = Callable[[HeadMap, list[int | None] | None], None]  # told the map and the cell [query, key] of a click on it


def show_maps(opened: PageContext, after: Capture, *, clicked: Clicked | None = None) -> tuple[DrawnHead, DrawnHead]:
    """The open head before the change and after it; a click on either pins the cell on both.

    ``clicked`` is told of a click on the first, after its cell is pinned.

    Raises EditNotPossible, and draws nothing, where the changed forward fails the check that the plain one passed.
    """
    check = cached.check(after, opened.layer)
    if not check.ok:
        raise EditNotPossible(reason=N_("the changed layer's output is not explained by its weights"))
    drift = drift_of_head(opened.capture, after, opened.layer, opened.head)
    headings = [_("before"), _("after: {share} of its attention elsewhere").format(share=number(drift, "share"))]
    left, right = st.columns(2)
    with left:
        before = show_map(opened, headings[0], "map_before", clicked=clicked)
    with right:
        changed = show_map(replace(opened, capture=after), headings[1], "map_after")
    words = _(
        "Checked: from its own q, k and v the changed layer was computed once more, and differs by at most {error}."
    )
    st.html(f"<p class='atlas-caption'>{words.format(error=error_size(check.max_abs_error))}</p>")
    return before, changed


def drift_of(before: Capture, after: Capture) -> np.ndarray:
    """How far each head's attention moved [layers, heads], computed once for the two requests."""
    key = ("drift", repr(before.request), repr(after.request))  # Streamlit hashes a value by its fields, not its type
    return cached.made(key, lambda: head_drift(before, after))


def show_map(opened: PageContext, heading: str, key: str, *, clicked: Clicked | None = None) -> DrawnHead:
    """The open head of one capture; a click pins the cell, and tells ``clicked``."""
    show_heading(f"L{opened.layer}H{opened.head}", heading)
    drawn = draw_head(opened, session.place().window, max_height=MAP_HEIGHT, press=clicked is not None)
    pin = head_views.map_events(drawn.read.view)["cell"]

    def press(cell: list[int | None] | None) -> None:
        pin(cell)
        if clicked is not None:
            clicked(drawn.read.view, cell)

    head_views.show_map(drawn, key, {} if clicked is None else {"press": press})
    return drawn


def change_view(drawn: tuple[DrawnHead, DrawnHead]) -> View:
    """The open head before and after a change, with the edits that made it; the difference beside them by name."""
    before, after = (one.read.view for one in drawn)
    difference = replace(before, values=after.values - before.values)
    view, name = head_view(drawn[1]), drawn[1].read.name
    maps = {N_("after"): after, N_("before"): before, N_("difference"): difference}
    names = {which: f"{name} · {_(which)}" for which in maps}
    shown = {names["before"]: drawn[0].payload, names["after"]: drawn[1].payload}

    def tables() -> dict[str, pd.DataFrame]:
        return {names[which]: map_table(one) for which, one in maps.items()}

    return replace(
        view,
        name=f"{view.name}-after",
        opened=drawn[1].opened,
        tables=tables,
        rows=lambda: side_by_side(tables(), shown),
        page=component_page(map_component.SOURCE, shown),
        picture=lambda title, words: drawn_maps_svg(shown, title=title, caption=words),
        arrays=lambda: {**arrays_of(view), **{which: one.values for which, one in maps.items()}},
    )


def output_name(position: int | None) -> str:
    """Of which token an encoder's probabilities are; None: of the next."""
    return _("Next token") if position is None else _("Token at {position}").format(position=position)


def show_change(opened: PageContext, after: Capture) -> NextTokenChange:
    """The likeliest tokens, next or of an encoder at the pinned place, before and after, and how far all moved."""
    change = change_at(opened.capture, after, opened.query)
    words = [opened.runner.token_text(token) for token in change.ids]
    bars = next_token_changes(
        words, list(change.before), list(change.after), heading=output_name(change.position),
        beside=_("KL {kl} bits").format(kl=f"{change.kl:.3g}"), follows=change.follows, texts=translated(TEXTS),
    )  # fmt: skip
    show_html(bars, key="next_change")
    return change
