"""Before and after an edit of the model, side by side: the open head's map and the next token."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from html import escape

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.color_scale import change_scale
from analysis.comparison import NextTokenChange, change_at, drift_of_head, head_drift
from analysis.head_map import HeadMap
from analysis.number_text import error_size, significant
from analysis.stories import whole_word
from analysis.tables import map_table, side_by_side
from model_runner import Capture
from model_runner.errors import EditNotPossible, NoLogits
from ui.shared import cached, head_views
from ui.shared.export_bundle import ExportBundle, arrays_of, component_page
from ui.shared.finding import show_finding
from ui.shared.head_export import head_view
from ui.shared.head_views import DrawnHead, draw_head
from ui.shell.components import mount, show_heading, show_html
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.head_map import head_map as map_component
from viz.distribution import TEXTS, next_token_changes, percent
from viz.drawn_maps_svg import drawn_maps_svg
from viz.token_text import lone_spaces

N_ = str  # marks a text for Babel without translating it here

ROUNDING = 1e-5  # as a share: a smaller change counts as none
MAP_HEIGHT = 400  # px: three maps and the list fit side by side

Clicked = Callable[[HeadMap, list[int | None] | None], None]  # called with the map and the clicked cell [query, key]


def show_maps(
    opened: PageContext,
    after: Capture,
    *,
    clicked: Clicked | None = None,
    said: str = "",
    between: Callable[[], None] | None = None,
    finding: DeltaGenerator | None = None,
    once: bool = False,
) -> tuple[DrawnHead, DrawnHead]:
    """Show the open head before the edit, after it, and the difference; a click on any of them pins the cell on all.

    ``clicked`` is called for a click on the first map, after the cell is pinned. ``said`` is the finding (HTML) if it
    is not the change of the next token; ``between`` draws below it and above the maps, and ``finding`` is its container
    if that is elsewhere. ``once``: both maps are equal, and one is drawn. Raises EditNotPossible, drawing nothing, if
    the edited forward fails the check that the plain one passed.
    """
    check = cached.check(after, opened.layer)
    if not check.ok:
        raise EditNotPossible(reason=N_("the changed layer's output is not explained by its weights"))
    drift = drift_of_head(opened.capture, after, opened.layer, opened.head)
    head = f"L{opened.layer}H{opened.head}"
    moved = _("{share} of {head}’s attention moves").format(share=number(drift, "share"), head=head)
    moved = escape(moved if drift > ROUNDING else _("{head} looks where it did before").format(head=head))
    colors = "" if once else escape(_("indigo: looks more than before, orange: less"))
    said = said or output_finding(opened, after)
    with finding or nullcontext():
        show_finding(said or moved, " · ".join(filter(None, (moved if said else "", colors))), of_several=True)
    if between is not None:
        between()
    left, middle, right = st.columns(3)
    with left:
        heading = _("before and after") if once else _("before")
        before = show_map(opened, heading, "map_before", clicked=clicked)
    if once:
        window = session.selection().window
        return before, draw_head(replace(opened, capture=after), window, max_height=MAP_HEIGHT)
    with middle:
        changed = show_map(replace(opened, capture=after), _("after"), "map_after")
    with right:
        show_heading(head, _("after − before"))
        pin = {"cell": head_views.map_events(changed.read.view)["cell"]}
        mount(map_component.SOURCE, _difference(before, changed), key="map_difference", on=pin)
    words = _("Checked: the changed layer, computed once more from its own q, k and v, differs by at most {error}.")
    st.html(f"<p class='atlas-caption'>{words.format(error=error_size(check.max_abs_error))}</p>")
    return before, changed


def drift_of(before: Capture, after: Capture) -> np.ndarray:
    """How far each head's attention moved [layers, heads], computed once per pair of requests."""
    key = ("drift", repr(before.request), repr(after.request))  # Streamlit hashes a value by its fields, not its type
    return cached.made(key, lambda: head_drift(before, after))


def show_map(opened: PageContext, heading: str, key: str, *, clicked: Clicked | None = None) -> DrawnHead:
    """Show the open head of one capture; a click pins the cell and calls ``clicked``."""
    show_heading(f"L{opened.layer}H{opened.head}", heading)
    drawn = draw_head(opened, session.selection().window, max_height=MAP_HEIGHT, press=clicked is not None)
    pin = head_views.map_events(drawn.read.view)["cell"]

    def press(cell: list[int | None] | None) -> None:
        pin(cell)
        if clicked is not None:
            clicked(drawn.read.view, cell)

    head_views.show_map(drawn, key, {} if clicked is None else {"press": press})
    return drawn


def _changed(before: HeadMap, after: HeadMap) -> HeadMap:
    """The change of each weight; a cell that is masked in one capture counts as 0 there."""
    neither = np.isnan(before.values) & np.isnan(after.values)
    values = np.nan_to_num(after.values) - np.nan_to_num(before.values)
    return replace(before, values=np.where(neither, np.float32(np.nan), values), left_out=None)


def _difference(before: DrawnHead, after: DrawnHead) -> bytes:
    """The payload of the difference map in the same window."""
    opened, view = after.opened, _changed(before.read.view, after.read.view)
    name = f"L{opened.layer}H{opened.head} · {_('after − before')}"
    return map_component.HeadMapPicture(
        values=view.values,
        window=view.inside,
        total=view.total,
        row_labels=list(map(lone_spaces, view.row_labels)),
        col_labels=list(map(lone_spaces, view.column_labels)),
        **asdict(change_scale(view.values)),
        selected=view.units_at(opened.query, opened.key),
        pool=view.pool,
        texts=translated(map_component.texts_of("difference", mean=view.how == "mean")) | {"summary": name, "note": ""},
        max_height=MAP_HEIGHT,
    ).packed()


def change_view(drawn: tuple[DrawnHead, DrawnHead]) -> ExportBundle:
    """The export of the open head before and after the edit, with the edits and the difference."""
    before, after = (one.read.view for one in drawn)
    view, name = head_view(drawn[1]), drawn[1].read.name
    maps = {N_("after"): after, N_("before"): before, N_("after − before"): _changed(before, after)}
    arrays = {which: which if which != "after − before" else "difference" for which in maps}
    names = {which: f"{name} · {_(which)}" for which in maps}
    shown = {names["before"]: drawn[0].payload, names["after"]: drawn[1].payload}
    shown |= {names["after − before"]: _difference(*drawn)}

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
        arrays=lambda: {**arrays_of(view), **{arrays[which]: one.values for which, one in maps.items()}},
    )


def output_name(position: int | None) -> str:
    """Name of the predicted token: for an encoder the one at this position; None means the next one."""
    return _("Next token") if position is None else _("Token at {position}").format(position=position)


def next_finding(opened: PageContext, after: Capture, cause: str = "") -> str:
    """How the edit changes the probability of the likeliest token, next or at a mask; HTML. Raises NoLogits.

    ``cause``: the edit in a few words, which begin the sentence.
    """
    change = change_at(opened.capture, after, opened.query)
    token = opened.runner.token_text(change.ids[0])
    begins = whole_word(opened.capture, token) if change.position is None else ""
    name = f"<bdi>{escape(token.strip('·') or lone_spaces(token))}</bdi>"
    shares = (escape(percent(float(share), _("{number} %"))) for share in (change.before[0], change.after[0]))
    told = dict(zip(("before", "after"), shares, strict=True))
    stays, falls, rises = (
        _("{cause}, {token} stays at {before}"),
        _("{cause}, {token} falls from {before} to {after}"),
        _("{cause}, {token} rises from {before} to {after}"),
    )
    if not cause and change.position is None:
        stays, falls, rises = (
            _("The next token {token} stays at {before}"),
            _("The next token {token} falls from {before} to {after}"),
            _("The next token {token} rises from {before} to {after}"),
        )
    elif not cause:
        stays, falls, rises = (
            _("{token} stays at {before}"),
            _("{token} falls from {before} to {after}"),
            _("{token} rises from {before} to {after}"),
        )
    words = stays if told["before"] == told["after"] else falls if change.after[0] < change.before[0] else rises
    named = _("“{token}” of “{word}”") if begins else _("“{token}”")
    named = named.format(token=name, word=f"<bdi>{escape(begins)}</bdi>")
    return words.format(cause=escape(cause), token=named, **told)


def output_finding(opened: PageContext, after: Capture, cause: str = "") -> str:
    """The same finding, or empty if the model predicts no tokens."""
    if opened.runner.info.classes:
        return ""
    try:
        return next_finding(opened, after, cause)
    except NoLogits:
        return ""


def show_change(opened: PageContext, after: Capture) -> NextTokenChange:
    """Show the likeliest tokens before and after the edit, and the total change: next, or at an encoder's pinned
    position.
    """
    change = change_at(opened.capture, after, opened.query)
    words = [opened.runner.token_text(token) for token in change.ids]
    bars = next_token_changes(
        words, list(change.before), list(change.after), heading=output_name(change.position),
        beside=_("KL {kl} bits").format(kl=significant(change.kl, 3)), follows=change.follows, texts=translated(TEXTS),
        begins=whole_word(opened.capture, words[0]) if change.position is None else "",
    )  # fmt: skip
    show_html(bars, key="next_change")
    return change
