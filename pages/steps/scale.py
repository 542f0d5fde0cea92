"""Why √d: the size of products of random vectors, their softmax, and the gradient that remains."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.number_text import significant
from analysis.sentences import joined
from attention.score_scaling import (
    DIMENSIONS,
    KEYS,
    PAIRS,
    RandomRow,
    first_products,
    random_products,
    random_row,
    saturation,
    summed_variances,
    variances,
)  # fmt: skip
from pages.steps.chains import show_chain, show_charts
from pages.steps.knobs import Knob
from pages.steps.numbers import changed, row_of
from pages.steps.state import StepsState, state
from ui.shared.chain_matrix import drawn_matrix
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding
from ui.state.controls import switch
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.chart import Line, Lines
from viz.components.step_by_step import step_by_step
from viz.components.step_by_step.chain import DrawnChain, DrawnStep, Live, rows_of
from viz.matrices_svg import Table, matrices_svg

STEEPEST = 0.25  # y (1 − y) at y = ½, the largest possible gradient, so that pictures can be compared


@dataclass(frozen=True, eq=False)
class ScaleView:
    """A random row at the chosen d, and the curves over every d."""

    d: int
    factor: float
    row: RandomRow
    charts: tuple[Lines, ...]
    payload: bytes


def show_scale() -> ScaleView:
    """Show the knobs, the curves over every d, and beside them one row step by step."""
    held = state()
    d = int(held.wide)
    with st.container(key="steps_knobs", horizontal=True, vertical_alignment="center", gap="medium"):
        switch(StepsState, "scaled", held.scaled, _("divide by √d"))
    products = random_products(PAIRS)
    root = held.temperature == 1 and held.scaled
    factor = (1 / math.sqrt(d) if held.scaled else 1.0) / held.temperature
    usual, written_numbers = first_products(products, d), changed()
    row = random_row(row_of("P", usual, written_numbers), factor)
    said, factor_said = _said(row, usual.numpy()), _("It is one factor on all scores, here {factor}.")
    knobs = [Knob("wide", d, values=tuple(map(float, DIMENSIONS))), Knob("temperature", held.temperature, step=0.25)]
    live_notes = {"products": said, "scale": factor_said}
    live = Live("scale", "P", rows_of(products[:KEYS].T.numpy()), scaled=held.scaled, notes=live_notes)
    charts = _charts(
        variances(products).tolist(),
        summed_variances(PAIRS).tolist(),
        [saturation(products, KEYS, scaled=on).tolist() for on in (False, True)],
    )
    show_finding(*_finding(d, charts[1]), of_several=True)
    left, right = st.columns([0.56, 0.44], gap="medium")  # the curves make the point; the numbers are one row of them
    with right:
        notes = said.format(d=d), factor_said.format(factor=significant(factor, 4))
        chain = _chain(row, usual.numpy(), factor, d if root else None, notes)
        chain = replace(chain, knobs=[knob.drawn() for knob in knobs], live=live)
        payload = show_chain("steps_scale", chain, edits=written_numbers)
    with left:
        show_charts(charts, "steps_scale")
    return ScaleView(d, factor, row, charts, payload)


def _finding(d: int, saturated: Lines) -> tuple[str, str]:
    """The largest weight of both curves at this d; HTML."""
    plain, divided = (number(line.y[DIMENSIONS.index(d)] or 0.0, "share") for line in saturated.series)
    said = _("At d = {d} the largest weight is {plain}; divided by √d, {divided}")
    words = _("of six keys, mean over rows of random vectors; not the model’s")
    return escape(said.format(d=d, plain=plain, divided=divided)), escape(words)


def tables_of(row: RandomRow) -> dict[str, Table]:
    """What is shown of the row."""
    keys, names = [f"k{i}" for i in range(KEYS)], ("q",)
    values = {"P": ("q · k", row.products), "C": ("s", row.scores), "A": ("y = softmax(s)", row.weights)}
    tables = {id: Table(name, names, keys, one.numpy()[None], share=id == "A") for id, (name, one) in values.items()}
    ys, ss = [f"y{i}" for i in range(KEYS)], [f"s{i}" for i in range(KEYS)]
    return tables | {"G": Table("diag(y) − y yᵀ", ys, ss, row.gradient.numpy(), most=STEEPEST)}


def _chain(row: RandomRow, usual: np.ndarray, factor: float, root: int | None, notes: tuple[str, str]) -> DrawnChain:
    tables = tables_of(row)
    matrices = {name: drawn_matrix(one, usual=usual[None] if name == "P" else None) for name, one in tables.items()}
    divided, warmed = _("Divided by √d, and by the temperature"), _("Divided only by the temperature")
    title = divided if state().scaled else warmed
    moves = _("How each weight moves with each score. Where one weight is nearly 1, nothing moves, or learns.")
    steps = [
        DrawnStep("products", "model", "P", short="q · k", title=_("q · k of random vectors"), note=notes[0]),
        DrawnStep("scale", "scale", "C", left="P", factor=factor, root=root, short="s", title=title, note=notes[1]),
        DrawnStep("softmax", "softmax", "A", left="C"),
        DrawnStep(
            "gradient",
            "gradient",
            "G",
            left="A",
            short=_("gradient"),
            title=_("The gradient: diag(y) − y yᵀ"),
            note=moves,
        ),
    ]
    return DrawnChain(matrices, steps)


def _said(row: RandomRow, usual: np.ndarray) -> str:
    """Where the products come from, with {d} still to be filled in."""
    random = _("One query and six keys, all their numbers random: each product is a sum of {d}.")
    typed = int((row.products.numpy() != usual).sum())
    if typed:
        return joined(random, _("{count} of them were typed instead.").format(count=typed))
    return joined(random, _("Click a product and type another."))


def _charts(measured: list[float], summed: list[float], largest: list[list[float]]) -> tuple[Lines, ...]:
    places = [float(d) for d in DIMENSIONS]
    divided = [value / d for value, d in zip(measured, places, strict=True)]
    spread = Lines(
        series=[
            Line(_("q · k, measured"), places, measured, points=True),
            Line(_("divided by √d"), places, divided, points=True),
            Line(_("Σ Var(qᵢ kᵢ), term by term"), places, summed, dash="dash"),
            Line(_("d itself"), places, places, dash="dot", quiet=True),
        ],
        x_title="d", y_title=_("variance"), log_x=True, log_y=True, ticks=places[::3], height=250,
        heading=_("The variance of {count} products of random vectors").format(count=f"{PAIRS:,}"),
    )  # fmt: skip  # the settings in a line
    saturated = Lines(
        series=[
            Line(_("not divided"), places, largest[0], points=True),
            Line(_("divided by √d"), places, largest[1], points=True),
        ],
        x_title="d", y_title=_("largest weight"), log_x=True, ticks=places[::3], height=250,
        heading=_("The largest of six weights, mean over rows: 1 is a saturated softmax"),
    )  # fmt: skip  # the settings in a line
    return spread, saturated


def scale_view(found: ScaleView) -> ExportBundle:
    """The row with its gradient, and the curves."""
    tables = tables_of(found.row)
    return ExportBundle(
        name=f"why-sqrt-d-{found.d}",
        title=_("Why √d"),
        of_text=False,
        what=f"random vectors of {found.d} numbers, not the model's; scores times {found.factor:.6g}",
        tables=lambda: {
            table.name: pd.DataFrame(table.values, list(table.rows), list(table.columns))
            for table in (tables["G"], tables["P"], tables["C"], tables["A"])
        }
        | {chart.heading: pd.DataFrame({line.name: list(line.y) for line in chart.series}, [str(d) for d in DIMENSIONS])
           for chart in found.charts},
        page=component_page(step_by_step.SOURCE, found.payload),
        picture=lambda title, words: matrices_svg(list(tables.values()), title=title, caption=words),
        arrays={"dimensions": np.array(DIMENSIONS), "gradient": found.row.gradient.numpy()},
        code="import torch\n\n"
        "generator = torch.Generator().manual_seed(0)\n"
        f"q, k = (torch.randn({PAIRS}, {DIMENSIONS[-1]}, generator=generator).double() for _ in range(2))\n"
        "products = (q * k).cumsum(1)  # column d - 1: q · k of d numbers\n"
        f"variances = [float(products[:, d - 1].var()) for d in {DIMENSIONS}]\n"
        f"summed = [float((q * k)[:, :d].var(0).sum()) for d in {DIMENSIONS}]  # Σ Var(qᵢ kᵢ)\n"
        f"rows = products[: {PAIRS // KEYS * KEYS}].reshape(-1, {KEYS}, {DIMENSIONS[-1]})  # {KEYS} products a row\n"
        f"largest = [float(torch.softmax(rows[..., d - 1], 1).amax(1).mean()) for d in {DIMENSIONS}]\n"
        f"divided = [float(torch.softmax(rows[..., d - 1] / d**0.5, 1).amax(1).mean()) for d in {DIMENSIONS}]\n"
        f"row = torch.tensor({found.row.products.tolist()}, dtype=torch.float64)  # {KEYS} of them at d, or as typed\n"
        f"weights = torch.softmax(row * {found.factor!r}, 0)\n"
        "gradient = torch.diag(weights) - torch.outer(weights, weights)",
        starts_with_capture=False,
    )  # fmt: skip  # two tables of tables
