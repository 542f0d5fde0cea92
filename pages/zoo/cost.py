"""The second view of the page Zoo: what the variants would cost this model in long texts, by formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import pandas as pd
import streamlit as st

from attention.zoo import flash, lightning
from attention.zoo.variant import Parameter, Variant
from pages.zoo.state import BY_NAME, DIFFERENCE, ZooState, show_sliders, state, values_of
from ui.controls import choose, pick
from ui.i18n import _
from ui.page import PageContext
from ui.progressive import show_chart
from viz.chart import Line, Lines

LENGTHS = tuple(1000 * 2**power for power in range(11))  # a thousand tokens to a million
NAMED = (LENGTHS[0], LENGTHS[5], LENGTHS[10])
HYBRID = 7  # layers of Lightning to one of softmax, as MiniMax-01 has them (arXiv:2501.08313)
TILE = 256  # tokens of a Lightning tile there


@dataclass(frozen=True)
class Shape:
    """What the formulas need of a model."""

    n_layers: int
    n_heads: int
    d_head: int


@dataclass(frozen=True)
class Curve:
    """One line: multiply-adds of all heads of all layers over ``LENGTHS``."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Costs:
    """What is drawn."""

    shape: Shape
    curves: tuple[Curve, ...]
    variants: tuple[tuple[Variant, dict[str, int]], ...]


def show_cost(opened: PageContext) -> Costs:
    """The chart, and a table of three lengths."""
    left, right = st.columns([0.7, 0.3], gap="large")
    with right:
        found = costs_of(_shape(opened), show_choices())
        _show_table(found)
    with left:
        show_chart(chart_of(found), key="zoo_cost", alt=chart_of(found).y_title, still=True)
    return found


def show_choices() -> tuple[tuple[Variant, dict[str, int]], ...]:
    """Formula or measured, the variants, and sliders for what their work depends on; these variants, numbered."""
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


def costs_of(shape: Shape, variants: tuple[tuple[Variant, dict[str, int]], ...]) -> Costs:
    """Softmax, the variants with their numbers, and the hybrid."""

    def curve(name: str, work: Callable[[int], float]) -> Curve:
        return Curve(name, tuple(shape.n_layers * shape.n_heads * work(length) for length in LENGTHS))

    def of(variant: Variant, values: dict[str, int]) -> Curve:
        numbers = variant.numbers(values, LENGTHS[0])
        return curve(_(variant.label), lambda length: variant.multiply_adds(length, shape.d_head, **numbers))

    curves = [curve("softmax", lambda length: flash.multiply_adds(length, shape.d_head))]
    curves += [of(variant, values) for variant, values in variants]
    words = _("hybrid: {count} Lightning to 1 softmax").format(count=HYBRID)
    curves.append(curve(words, lambda length: hybrid(length, shape.d_head)))
    return Costs(shape, tuple(curves), variants)


def counted(variant: Variant) -> list[Parameter]:
    """The parameters that the work depends on."""
    length = LENGTHS[0]

    def work(one: Parameter, value: int) -> int:
        return variant.multiply_adds(length, 64, **variant.numbers({one.name: value}, length))

    return [one for one in variant.parameters if work(one, one.least) != work(one, one.most_of(length))]


def hybrid(n_tokens: int, d_head: int) -> float:
    """A head's work on the mean over eight layers, seven of them of Lightning attention."""
    fast = lightning.multiply_adds(n_tokens, d_head, half_life=1, tile=TILE)  # the half-life is no work
    return (HYBRID * fast + flash.multiply_adds(n_tokens, d_head)) / (HYBRID + 1)


def chart_of(found: Costs) -> Lines:
    """Both axes logarithmic: a straight line is a power of the length."""
    dashes = ["dot", *["solid"] * len(found.variants), "dash"]
    series = [Line(one.name, LENGTHS, one.values, dash) for one, dash in zip(found.curves, dashes, strict=True)]
    return Lines(
        series=series, x_title=_("tokens"), y_title=_("multiply-adds of attention"), log_x=True, log_y=True, height=500
    )


def table_of(found: Costs) -> pd.DataFrame:
    """Every number of the chart."""
    data = {one.name: one.values for one in found.curves}
    return pd.DataFrame(data, index=[f"{length:,}" for length in LENGTHS])


def short_count(value: float) -> str:
    """As the axis of the chart writes it, with three digits: 131M, 4.1G, 2.05P."""
    for power, suffix in ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if value >= 0.9995 * 10**power:
            return f"{value / 10**power:.3g}{suffix}"
    return f"{value:.3g}"


def _shape(opened: PageContext) -> Shape:
    record = opened.capture.record(opened.layer)
    n_layers = sum(one is not None for one in opened.capture.records)
    return Shape(n_layers, record.q.shape[0], record.q.shape[-1])


def _show_table(found: Costs) -> None:
    shape = found.shape
    head = "".join(f"<th scope='col'>{words}</th>" for words in (_("tokens"), *(f"{length:,}" for length in NAMED)))
    rows = "".join(
        f"<tr><th scope='row'>{escape(one.name)}</th>"
        + "".join(f"<td>{short_count(one.values[LENGTHS.index(length)])}</td>" for length in NAMED)
        + "</tr>"
        for one in found.curves
    )
    words = _(
        "Matrix products of {layers} layers of {heads} heads, d = {d}, by formula; not halved by a causal mask. The "
        "numbers of a variant stay as they are here, however long the text; Lightning in the hybrid has tiles of "
        "{tile} tokens. M is a million, G a billion, T a thousand G, P a thousand T."
    ).format(layers=shape.n_layers, heads=shape.n_heads, d=shape.d_head, tile=TILE)
    st.html(
        f"<table class='atlas-costs'><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table><p class='atlas-caption'>{escape(words)}</p>"
    )
