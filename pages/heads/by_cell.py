"""Two tokens, and all heads ranked by the weight of one on the other: the list beside the open head."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

from analysis.cell_ranking import CellRanking, cell_ranking
from analysis.joined import first_query, n_looked_at
from ui.shared import cached
from ui.shared.export_bundle import ExportBundle, arrays_of, caption
from ui.shared.head_views import DrawnHead, strongest
from ui.shell.components import mount, show_heading
from ui.shell.fragment_first import rerun_fragment
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.state.inputs import on_change, pick_one, widget_key
from ui.wording.i18n import _
from viz.components.head_bars import head_bars
from viz.export import csv_bytes
from viz.token_text import lone_spaces

SHOWN = 8  # heads that are listed; the others are counted
MOST_LISTED = 300  # tokens in a select box; with more, positions are typed


def ranking_of(drawn: DrawnHead) -> CellRanking | None:
    """The ranking for the pinned query and key, or the map's largest key for it. None without a query."""
    opened = drawn.opened
    query, key = opened.query, opened.key
    if query is not None and key is None:
        most = strongest(opened, drawn.read.reading)
        key = None if most is None else most[1]
    if query is None or key is None:
        return None
    at = ("by_cell", repr(opened.capture.request), query, key)
    return cached.made(at, lambda: cell_ranking(opened.capture, query, key))


def show_by_cell(drawn: DrawnHead) -> CellRanking | None:
    """Show the two tokens, which can be changed here, and the heads with the largest weights."""
    opened, found = drawn.opened, ranking_of(drawn)
    show_heading(escape(_("Which heads look there?")))
    with st.container(key="by_cell", horizontal=True, vertical_alignment="center", gap="small"):
        first, last = first_query(opened.capture), len(opened.capture.tokens)
        _choose(
            opened, "query", _("looking (query)"), opened.query if found is None else found.query, range(first, last)
        )
        _choose(
            opened,
            "key",
            _("looked at (key)"),
            None if found is None else found.key,
            range(n_looked_at(opened.capture)),
        )
    if found is None:
        words = _("Choose two tokens, or click a cell of the map.")
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
        return None
    query, key = (opened.capture.tokens[at].text for at in (found.query, found.key))
    if not (order := found.order):
        words = _("{query} cannot see {key} in any head.").format(query=query, key=key)
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
        return found
    place = (opened.layer, opened.head)
    summary = _("Heads by how much {query} ({query_index}) looks at {key} ({key_index})")
    payload = head_bars.HeadBarsPicture(
        heads=order[:SHOWN],
        values=np.array([found.weight(one) for one in order[:SHOWN]], np.float32),
        total=len(order),
        most_left=found.weight(order[SHOWN]) if len(order) > SHOWN else 0.0,
        selected=place,
        place=order.index(place) + 1 if place in order else None,
        value=found.weight(place) if place in order else 0.0,
        texts=translated(head_bars.TEXTS)
        | {"summary": summary.format(query=query, query_index=found.query, key=key, key_index=found.key)},
        shows="map_heading",
    ).packed()
    mount(head_bars.SOURCE, payload, key="head_bars", on={"head": _open_head})
    return found


def _choose(opened: PageContext, name: Literal["query", "key"], label: str, value: int | None, tokens: range) -> None:
    """Select one of the two tokens from a list, or by position in a long text."""

    def look(token: int | None) -> None:
        if token is not None:
            session.move_one(name, token)

    if len(tokens) > MOST_LISTED:
        key = widget_key(f"by_cell_{name}", value)
        st.number_input(label, tokens[0], tokens[-1], value, key=key, on_change=on_change(key, look), width=118)
        return
    names: dict[int | None, str] = {None: label} if value is None else {}
    names |= {token: f"{token} {lone_spaces(opened.capture.tokens[token].text)}" for token in tokens}
    pick_one(label, f"by_cell_{name}", names, value, look, width=118)


def _open_head(place: list[int]) -> None:
    session.move(layer=int(place[0]), head=int(place[1]))
    rerun_fragment("open_head")


def with_ranking(view: ExportBundle, opened: PageContext, found: CellRanking | None) -> ExportBundle:
    """Add the ranking to the export as a table, a file and arrays, with Python code."""
    if found is None or not found.order:
        return view
    tokens = opened.capture.tokens
    cell = f"{found.query} {tokens[found.query].text} → {found.key} {tokens[found.key].text}"
    title = _("Heads by this cell: {cell}").format(cell=cell)
    ranked = pd.DataFrame(
        {_("weight"): [found.weight(place) for place in found.order]},
        [f"L{layer}H{head}" for layer, head in found.order],
    )
    what = f"share of the attention of token {found.query} that goes to token {found.key}, in every head, best first"
    words = caption(opened, what, head="all heads")
    return replace(
        view,
        tables=lambda: {**view.tables(), title: ranked},
        arrays=lambda: {**arrays_of(view), "by_cell": found.weights},
        code=f"{view.code}\n\nfrom attention_atlas.analysis.cell_ranking import cell_ranking\n\n"
        f"by_cell = cell_ranking(capture, {found.query}, {found.key})",
        files={
            **view.files,
            "heads-by-cell.csv": lambda: csv_bytes(ranked.to_numpy(), list(ranked.index), ["weight (share)"], words),
        },
    )
