"""The second view of the page Zoo: the variants' cost for this model on long texts, by formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

import pandas as pd
import streamlit as st

from analysis.number_text import three_digits
from model_runner.memory import readable
from pages.zoo.by_formula import (
    LENGTHS,
    NAMED,
    TILE,
    CostCurve,
    Costs,
    Numbered,
    costs_of,
    counted,
    shape_of,
    short_count,
)
from pages.zoo.latent import holds_latent
from pages.zoo.state import BY_NAME, DIFFERENCE, ZooState, show_sliders, state, values_of
from ui.shared.finding import show_finding
from ui.shell.components import show_html
from ui.shell.page import PageContext
from ui.shell.progressive import show_chart
from ui.state.controls import choose, pick
from ui.wording.i18n import _
from viz.chart import Line, Lines

N_ = str  # marks a text for Babel without translating it here

WORK = N_("Multiply-adds of a whole text")
MEMORY = N_("Held at once for a whole text, a layer")
KEPT = N_("Kept for a text that is read one token at a time")
STEP = N_("Multiply-adds of one token more")


def show_cost(opened: PageContext) -> Costs:
    """Show the chart, and tables for three lengths."""
    left, right = st.columns([0.58, 0.42], gap="large")
    with right:
        found = costs_of(shape_of(opened), show_choices())
    with left:  # first on phones too
        if (said := _finding(found)) is not None:
            show_finding(*said)
        show_chart(chart_of(found), key="zoo_cost", alt=chart_of(found).y_title, still=True)
    with right:
        _show_tables(found, latent=bool(found.kept) and holds_latent(opened))
    return found


def _finding(found: Costs) -> tuple[str, str] | None:
    """The first variant's work relative to softmax at the longest text; HTML. None if undefined."""
    softmax, variant = found.work[:2]
    if softmax.values is None or variant.values is None or not variant.values[-1]:
        return None
    times = softmax.values[-1] / variant.values[-1]
    said = _("At {length} tokens, {variant} takes {times} times less work than softmax")
    if times < 1:
        times, said = 1 / times, _("At {length} tokens, {variant} takes {times} times the work of softmax")
    written = three_digits(times)
    if written == three_digits(1.0):
        said = _("At {length} tokens, {variant} takes as much work as softmax")
    both = " · ".join(f"{one.name} {short_count(one.values[-1])}" for one in (variant, softmax) if one.values)
    return escape(said.format(length=f"{LENGTHS[-1]:,}", variant=variant.name, times=written)), escape(both)


def show_choices() -> tuple[Numbered, ...]:
    """Show the selectors (formula or measured, variants) and sliders for cost parameters; returns the variants with
    them.
    """
    held = state()
    choose(ZooState, "how", held.how, {"formula": _("by formula"), "measured": _("measured here")})
    every = {one.name: _(one.label) for one in BY_NAME.values()}
    pick(ZooState, "variant", held.variant, every)
    pick(ZooState, "beside", held.beside, {DIFFERENCE: _("softmax alone")} | every)
    chosen = [one for one in (held.first, held.second) if one is not None]
    variants = tuple((one, values_of(one, LENGTHS[0], "long")) for one in dict.fromkeys(chosen))
    for variant, values in variants:
        show_sliders(variant, counted(variant), values, LENGTHS[0], "long")
    return variants


def chart_of(found: Costs) -> Lines:
    """Both axes are logarithmic, so that a power of the length is a straight line."""
    dashes = ["dot", *["solid"] * len(found.variants), "dash"]
    series = [Line(one.name, LENGTHS, one.values or (), dash) for one, dash in zip(found.work, dashes, strict=True)]
    return Lines(
        series=series, x_title=_("tokens"), y_title=_("multiply-adds of attention"), log_x=True, log_y=True, height=500
    )


def tables_of(found: Costs) -> dict[str, pd.DataFrame]:
    """Every number of the chart, then the costs of reading token by token."""
    rows = [f"{length:,}" for length in LENGTHS]
    curves = {
        _("What it would cost"): found.work,
        _(MEMORY) + " · " + _("bytes"): found.memory,
        _(KEPT) + " · " + _("bytes"): found.kept,
        _(STEP): found.step,
    }
    return {
        name: pd.DataFrame({one.name: one.values for one in of if one.values is not None}, index=rows)
        for name, of in curves.items()
        if of
    }


def _show_tables(found: Costs, *, latent: bool) -> None:
    shape = found.shape
    tables = _table(_(WORK), found.work, short_count) + _table(_(MEMORY), found.memory, readable)
    words = [
        _(
            "Matrix products of {layers} layers of {heads} heads, d = {d}, by formula; not halved by a causal mask. "
            "The numbers of a variant stay as they are here, however long the text; Lightning in the hybrid has tiles "
            "of {tile} tokens. M is a million, G a billion, T a thousand G, P a thousand T."
        ).format(layers=shape.n_layers, heads=shape.n_heads, d=shape.d_head, tile=TILE),
        _(
            "Held at once, beyond q, k and v, by all heads of a layer: a map, features, tiles, states, and the output, "
            "in the model’s own {count} bytes a number. Softmax has its map stored here; FlashAttention has tiles."
        ).format(count=shape.n_bytes),
    ]
    if found.kept:
        tables += _table(_(KEPT), found.kept, readable) + _table(_(STEP), found.step, short_count)
        words.append(
            _(
                "Counts all layers; heads that share keys and values share what is kept, unless it depends "
                "on queries. –: it cannot read a text one token at a time."
            )
        )
    if latent:
        words.append(
            _(
                "The model itself keeps one compressed vector for all heads (MLA); softmax is counted here with the "
                "keys and values that its heads make of it."
            )
        )
    show_html(tables + "".join(f"<p class='atlas-caption'>{escape(one)}</p>" for one in words), key="zoo_costs")


def _table(heading: str, curves: Iterable[CostCurve], written: Callable[[float], str]) -> str:
    """Three lengths of each."""
    head = "".join(f"<th scope='col'>{length:,}</th>" for length in NAMED)

    def cell(one: CostCurve, length: int) -> str:
        return "–" if one.values is None else written(one.values[LENGTHS.index(length)])

    rows = "".join(
        f"<tr><th scope='row'>{escape(one.name)}</th>"
        + "".join(f"<td>{cell(one, length)}</td>" for length in NAMED)
        + "</tr>"
        for one in curves
    )
    first = f"<th scope='col'>{escape(heading)}</th>"
    return f"<table class='atlas-costs'><thead><tr>{first}{head}</tr></thead><tbody>{rows}</tbody></table>"
