"""Sinusoidal positions added to the open head's input: the four terms of its scores, and a permutation of the text."""

from __future__ import annotations

from functools import partial
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.added_positions import HeadReads, Order, Reordered, four_maps, head_reads, reordered
from analysis.number_text import error_size, figure_number
from model_runner.projection_questions import HeadProjections
from pages.positions.places import titled
from pages.positions.sinusoid import names, note_cut, rows_shown
from pages.positions.state import PositionsState, state
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import key_name, query_name, show_finding
from ui.shared.number_map import NumberMap, show_number_map
from ui.shell.components import show_heading
from ui.shell.page import PageContext, asked
from ui.shell.progressive import show_chart
from ui.state import session
from ui.state.controls import pick, switch
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.chart import Bars
from viz.components.layer_head_map import layer_head_map
from viz.matrices_svg import matrices_svg

N_ = str  # marks a text for Babel without translating it here

MOST = 16  # tokens in view
SAME = 1e-9  # relative to a vector's length: rounding in float64
TERMS = {
    "content_content": N_("content · content"),
    "content_position": N_("content · position"),
    "position_content": N_("position · content"),
    "position_position": N_("position · position"),
    "total": N_("their sum: the scores"),
}
SHORT = {"content_content": "x·x", "content_position": "x·p", "position_content": "p·x", "position_position": "p·p"}


def _head_reads(opened: PageContext, shown: range) -> HeadReads:
    """Raises NotSeparable, OneStackOnly."""
    found = asked(opened, HeadProjections(opened.capture.request, opened.layer, opened.head, tuple(shown)))
    return head_reads(found, shown, opened.capture.record(opened.layer).scale)


LINES = """
import torch

from attention_atlas.attention.added_positions import {imports}
from attention_atlas.attention.position_biases import sinusoidal
from attention_atlas.model_runner.projection_questions import HeadProjections

places = tuple(range({start}, {stop}))
found = runner.submit(HeadProjections(capture.request, {layer}, {head}, places)).result()
x, p = found.q.read.double(), sinusoidal(torch.tensor(places), found.q.read.shape[1])
"""


def _lines(opened: PageContext, shown: range, imports: str) -> str:
    return LINES.format(imports=imports, start=shown.start, stop=shown.stop, layer=opened.layer, head=opened.head)


# -- the four terms ---------------------------------------------------------------------------------------------------


def show_terms(opened: PageContext, query: int, key: int) -> ExportBundle:
    """Show four maps and their sum on one scale. Raises NotSeparable, OneStackOnly."""
    shown = rows_shown(opened.capture, query, MOST)
    reads = _head_reads(opened, shown)
    values = four_maps(reads)
    most = max(float(np.abs(one).max()) for one in values.values()) or 1.0
    labels = names(opened.capture, shown)
    maps = {
        name: NumberMap(_(title), values[name], labels, labels, most, axes=(_("queries"), _("keys")))
        for name, title in TERMS.items()
    }
    i = query - shown.start
    j = min(max(key - shown.start, 0), len(labels) - 1)
    parts = [f"{short} {figure_number(float(values[name][i, j]))}" for name, short in SHORT.items()]
    said = _("{query} with {key}: {parts} = {total}").format(
        query=query_name(opened.capture, query), key=key_name(opened.capture, shown.start + j),
        parts=escape(" + ".join(parts)), total=figure_number(float(values["total"][i, j])),
    )  # fmt: skip  # its values in two lines
    whose = _("W_Q and W_K are L{layer}H{head}’s own, p is added here: the model was not trained with it")
    show_finding(said, escape(whose.format(layer=opened.layer, head=opened.head)), of_several=True)
    pick_cell = partial(_open, shown.start)
    payloads: dict[str, bytes] = {}
    small, large = st.columns([0.6, 0.4], gap="medium")
    with small:
        for pair in (("content_content", "content_position"), ("position_content", "position_position")):
            for name, column in zip(pair, st.columns(2, gap="small"), strict=True):
                with column:
                    show_heading(escape(maps[name].title))
                    payloads[name] = show_number_map(
                        maps[name], (i, j), key=f"term_{name}", pick=pick_cell, max_height=205
                    )
    with large:
        show_heading(escape(maps["total"].title))
        payloads["total"] = show_number_map(maps["total"], (i, j), key="term_total", pick=pick_cell, max_height=430)
        note_cut(opened.capture, shown)
    title = titled(opened, _("four terms"))
    return ExportBundle(
        name=f"positions-L{opened.layer}H{opened.head}-four-terms",
        title=title,
        what="scores with sinusoidal positions added to what the head reads, in four parts; no mask, no rotation",
        tables=lambda: {one.title: one.table() for one in maps.values()},
        page=component_page(layer_head_map.SOURCE, {maps[name].title: one for name, one in payloads.items()}),
        picture=lambda title, words: matrices_svg([one.matrix() for one in maps.values()], title=title, caption=words),
        arrays=values,
        code=_lines(opened, shown, "four_terms")
        + f"terms = four_terms(x, p, found.q.matrix, found.k.matrix, {reads.scale!r})\n"
        "scores = terms.total  # content_content + content_position + position_content + position_position",
    )


def _open(first: int, row: int, column: int) -> None:
    session.move(query=first + row, key=first + column)


# -- permutation ------------------------------------------------------------------------------------------------------

ORDERS: dict[Order, str] = {
    "reversed": N_("backwards"),
    "swapped": N_("first and last swapped"),
    "random": N_("shuffled"),
}


def show_order_controls() -> None:
    """Select the permutation, and whether positions are added."""
    pick(PositionsState, "order", state().order, {name: _(words) for name, words in ORDERS.items()}, width=220)
    switch(PositionsState, "added", state().added, _("add positions"))


def show_shuffled(opened: PageContext, query: int) -> ExportBundle:
    """Show the head's map before and after the permutation, and how far each output moved.

    Raises as :func:`show_terms`.
    """
    shown, added = rows_shown(opened.capture, query, MOST), state().added
    reads = _head_reads(opened, shown)
    found = reordered(reads, state().order, added=added)
    _say_moved(opened, float(found.moved.max()))
    maps = _two_maps(opened, shown, found)
    row = query - shown.start
    there = found.order.tolist().index(row)
    payloads: dict[str, bytes] = {}
    left, right, beside = st.columns([0.36, 0.36, 0.28], gap="medium")
    for key, at, column, back in (
        ("in_order", row, left, np.arange(len(shown))),
        ("reordered", there, right, found.order),
    ):
        with column:
            show_heading(escape(maps[key].title))
            column_open = int(maps[key].values[at].argmax())
            payloads[key] = show_number_map(
                maps[key],
                (at, column_open),
                key=f"order_{key}",
                pick=partial(_open_token, shown.start, back),
            )
    chart = _moved_bars(opened, shown, found.moved)
    with beside:
        show_heading(escape(chart.heading))
        show_chart(chart, key="order_moved", alt=chart.heading, still=True)
    note_cut(opened.capture, shown)
    title = titled(opened, _("another order"))
    table = pd.DataFrame({chart.heading: found.moved}, index=names(opened.capture, shown))
    return ExportBundle(
        name=f"positions-L{opened.layer}H{opened.head}-{state().order}",
        title=title,
        what=f"attention of all to all, sinusoidal positions {'added' if added else 'left out'}, in another order",
        tables=lambda: {chart.heading: table, **{one.title: one.table() for one in maps.values()}},
        page=component_page(layer_head_map.SOURCE, {maps[name].title: one for name, one in payloads.items()}),
        picture=lambda title, words: matrices_svg([one.matrix() for one in maps.values()], title=title, caption=words),
        arrays={
            "weights": found.weights, "weights_reordered": found.weights_reordered, "output": found.output,
            "output_reordered": found.output_reordered, "order": found.order,
        },
        code=_lines(opened, shown, "attend_to_all, moved_outputs")
        + f"order, matrices = torch.tensor({found.order.tolist()}), (found.q.matrix, found.k.matrix, found.v.matrix)\n"
        + f"p = p * {float(added)}  # 0: no positions\n"
        + f"first, other = (attend_to_all(one + p, *matrices, {reads.scale!r}) for one in (x, x[order]))\n"
        + "moved = moved_outputs(first, other, order)",
    )  # fmt: skip  # its arrays in two lines


def _say_moved(opened: PageContext, most: float) -> None:
    head = f"L{opened.layer}H{opened.head}"
    if most < SAME:
        said = _("In another order every token gets the same output: attention without positions is equivariant")
        beside = _("{head}, all to all without a mask; largest change {error} of a vector’s length")
        beside = beside.format(head=head, error=error_size(most))
    else:
        said = _("With positions the order counts: an output changes by up to {share} of its length")
        said = said.format(share=number(most, "share"))
        beside = _("{head}, all to all without a mask").format(head=head)
    show_finding(escape(said), escape(beside), of_several=True)


def _two_maps(opened: PageContext, shown: range, found: Reordered) -> dict[str, NumberMap]:
    labels, axes = names(opened.capture, shown), (_("queries"), _("keys"))
    there = [labels[at] for at in found.order.tolist()]
    words = _("in the text’s order"), _("in another order")
    return {
        "in_order": NumberMap(words[0], found.weights, labels, labels, 1.0, share=True, axes=axes),
        "reordered": NumberMap(words[1], found.weights_reordered, there, there, 1.0, share=True, axes=axes),
    }


def _moved_bars(opened: PageContext, shown: range, moved: np.ndarray) -> Bars:
    """0 where the difference is only rounding, as the text says."""
    shares = [0.0 if one < SAME else float(one) for one in moved]
    return Bars(
        labels=names(opened.capture, shown),
        values=shares,
        words=[number(one, "share") for one in shares],
        height=40 + 24 * len(shares),
        heading=_("how far each output moved"),
        longest=1.0,
    )


def _open_token(first: int, order: np.ndarray, row: int, _column: int) -> None:
    session.move(query=first + int(order[row]), key=None)
