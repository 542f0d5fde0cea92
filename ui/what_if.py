"""Before and after a change of the model's forward, side by side: the open head's map and the next token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.comparison import NextTokenChange, head_drift, next_token_change
from analysis.head_map import HeadMap, Reading
from model_runner import Capture
from model_runner.errors import EditNotPossible
from ui import cached, edit_address, edit_list, session
from ui import head_views as views
from ui.components import mount
from ui.head_export import take_head_away
from ui.i18n import _
from ui.page import Opened, translated
from ui.tables import labelled
from ui.wording import error_size, number
from viz.components.head_map import head_map as map_component
from viz.distribution import TEXTS, next_token_changes

N_ = str  # marks a text for Babel without translating it here

MAP_HEIGHT = 400  # pixels; two maps and the list stand side by side
READING = Reading()


@dataclass(frozen=True, eq=False)
class Changed:
    """The open head after a change, as its map is drawn and taken away."""

    opened: Opened  # with the changed capture
    view: HeadMap
    payload: bytes
    scale: views.Scale


Clicked = Callable[[HeadMap, list[int | None] | None], None]  # told the map and the cell [query, key] of a click on it


def show_maps(opened: Opened, after: Capture, *, clicked: Clicked | None = None) -> Changed:
    """The open head before the change and after it; a click on either pins the cell on both.

    ``clicked`` is told of a click on the first, after its cell is pinned.

    Raises EditNotPossible, and draws nothing, where the changed forward fails the check that the plain one passed.
    """
    check = cached.check(after, opened.layer)
    if not check.ok:
        raise EditNotPossible(reason=N_("the changed layer's output is not explained by its weights"))
    drift = float(drift_of(opened.capture, after)[opened.layer, opened.head])
    headings = [
        _("before"),
        _("after: {share} of its attention elsewhere").format(share=number(drift, "share")),
    ]
    left, right = st.columns(2)
    with left:
        show_map(opened, headings[0], "map_before", clicked=clicked)
    with right:
        changed = show_map(replace(opened, capture=after), headings[1], "map_after")
    words = _("The changed layer, recomputed, differs from the model's own output by at most {error}.")
    st.html(f"<p class='atlas-caption'>{words.format(error=error_size(check.max_abs_error))}</p>")
    return changed


def drift_of(before: Capture, after: Capture) -> np.ndarray:
    """How far each head's attention moved [layers, heads], computed once for the two requests."""
    key = ("drift", repr(before.request), repr(after.request))  # Streamlit hashes a value by its fields, not its type
    return cached.made(key, lambda: head_drift(before, after))


def show_map(opened: Opened, heading: str, key: str, *, clicked: Clicked | None = None) -> Changed:
    """The open head of one capture; a click pins the cell, and tells ``clicked``."""
    st.html(f"<div class='atlas-head'><b>L{opened.layer}H{opened.head}</b> <span>{heading}</span></div>")
    view = views.read_head(opened, READING, None)
    scale = views.scale_of(view, READING, log=False, other=None)
    press = clicked is not None
    payload = views.map_payload(opened, view, READING, scale, None, max_height=MAP_HEIGHT, press=press)
    events = views.map_events(view)
    if clicked is not None:
        events["press"] = _both(events["cell"], partial(clicked, view))
    mount(map_component.SOURCE, payload, key=key, on=events)
    return Changed(opened, view, payload, scale)


def _both(first: Callable[[Any], None], second: Callable[[Any], None]) -> Callable[[Any], None]:
    def answer(value: Any) -> None:
        first(value)
        second(value)

    return answer


def tables_of_change(opened: Opened, changed: Changed) -> dict[str, pd.DataFrame]:
    """The open head before and after, to be read."""
    name = f"L{opened.layer}H{opened.head}"
    before = views.read_head(opened, READING, None)
    return {
        f"{name} · {words}": labelled(view.values, *(_labels(view, side) for side in ("rows", "columns")))
        for words, view in ((_("before"), before), (_("after"), changed.view))
    }


def _labels(view: HeadMap, side: str) -> dict[int, str]:
    window, (rows, columns) = view.window, view.pool
    units = view.units[window.q0 : window.q1 : rows] if side == "rows" else view.units[window.k0 : window.k1 : columns]
    return {unit.start: unit.label for unit in units}


def take_change_away(changed: Changed) -> None:
    """The changed head's map, with the edits that made it."""
    take_head_away(changed.opened, changed.view, READING, changed.scale, changed.payload, None)


def show_change(opened: Opened, after: Capture) -> NextTokenChange:
    """The likeliest next tokens with their probabilities before and after, and how far the distribution moved."""
    change = next_token_change(opened.capture, after)
    st.html(
        next_token_changes(
            [opened.runner.token_text(token) for token in change.ids],
            list(change.before),
            list(change.after),
            heading=_("Next token"),
            beside=_("KL {kl} nats").format(kl=f"{change.kl:.3g}"),
            texts=translated(TEXTS),
        )
    )
    return change


def offer_everywhere(after: Capture) -> None:
    """A button that has every page look at this change too; none where they already do.

    It joins the edits that were collected, where it takes the place of another value for the same thing.
    """
    edits = edit_list.held()
    for edit in after.request.edits:
        edits = edit_list.with_edit(edits, edit)
    if not edits or edit_address.written(edits) == session.carried():
        return

    def carry() -> None:
        edit_list.keep(edits)
        session.carry(True)

    st.button(_("use on every page"), key="use_everywhere", type="tertiary", on_click=carry)
