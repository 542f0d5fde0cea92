"""The view of the page Zoo with a weight matrix of the model whose largest singular values are rescaled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.number_text import three_digits
from jobs.waiting import await_job
from model_runner import Capture
from model_runner.matrix_edit import ScaledSingulars, Singulars, SingularValues
from pages.zoo.in_model import show_effect
from pages.zoo.state import ZooState, state
from ui.shared import cached
from ui.shared.export_bundle import ExportBundle
from ui.shared.head_views import DrawnHead
from ui.shared.what_if import change_view, show_maps
from ui.shell.page import PageContext, edited, show_stage
from ui.shell.progressive import show_chart
from ui.state.controls import pick, slider
from ui.state.edit_list import show_everywhere
from ui.state.frame_slots import frame_slots
from ui.state.page_state import refuse
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.markdown import plain

SLIDERS, ACROSS = 8, 4  # number of largest singular values; per row
ONE = 100  # percent: the singular value is unchanged
MOST = 300
FIRST_LOOK = {"1": 0}  # without the largest singular value, until something is chosen


@dataclass(frozen=True, eq=False)
class SingularValuesView:
    """``scaled`` are all singular values after the change; ``edits`` is empty if nothing changes."""

    edits: tuple[ScaledSingulars, ...]
    after: Capture
    drawn: tuple[DrawnHead, DrawnHead]  # before and after
    found: Singulars
    scaled: np.ndarray


def show_weights(opened: PageContext) -> SingularValuesView:
    """Show the matrix and its sliders, the open head before and after, and the model's output. Raises RunnerError."""
    found = _singulars(opened)
    left, right = st.columns([0.76, 0.24], gap="medium")
    with left:
        finding = st.container()  # above what changes it
        shown = min(SLIDERS, len(found.sizes))
        _show_matrix(opened, found, shown)
        factors = _show_sliders(found, shown)
    edits = _edits(opened.layer, found.name, factors)
    after = edited(opened, edits) if edits else opened.capture
    scaled = found.sizes.numpy().astype(float)
    scaled[: len(factors)] *= factors
    with left:
        drawn = show_maps(opened, after, finding=finding)
        chart = chart_of(found, scaled)
        show_chart(chart, key="zoo_singulars", alt=chart.heading, still=True)
    with right:
        show_effect(opened, after)
        show_everywhere(edits)
    return SingularValuesView(edits, after, drawn, found, scaled)


def _show_matrix(opened: PageContext, found: Singulars, shown: int) -> None:
    """Say which matrix it is, and what the sliders are."""
    with st.container(key="zoo_weights_controls", horizontal=True, vertical_alignment="center", gap="small"):
        pick(ZooState, "matrix", found.name, {name: name for name in found.names}, width=240)
        words = _("W = U Σ Vᵀ of L{layer}: each of the {count} largest σ times z; the others stay.")
        words = words.format(layer=opened.layer, count=shown)
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")


def _singulars(opened: PageContext) -> Singulars:
    """Decompose the URL's matrix; if the layer has none of that name, report it and use the first."""
    wanted = state().matrix
    found = _asked(opened, "")
    if wanted and wanted not in found.names:
        words = _("Layer {layer} has no matrix named {name}.").format(layer=opened.layer, name=wanted)
        refuse(ZooState, "matrix", words)
    return _asked(opened, wanted) if wanted in found.names else found


def _asked(opened: PageContext, matrix: str) -> Singulars:
    question, request = SingularValues(opened.layer, matrix), opened.capture.request
    key = ("singulars", request.model, request.revision, request.dtype, request.adapter, repr(question))
    try:
        return cached.made(key, lambda: await_job(opened.runner.submit(question), lambda: show_stage("reading", 0, 0)))
    finally:
        frame_slots().status.empty()


def _show_sliders(found: Singulars, count: int) -> np.ndarray:
    """Show a slider per singular value, several in a row; returns the factors."""
    chosen = state().factors
    held = chosen or FIRST_LOOK
    values = [held.get(str(place + 1), ONE) for place in range(count)]
    for first in range(0, count, ACROSS):
        for place, column in zip(range(first, count), st.columns(ACROSS), strict=False):
            words = f"z{place + 1} · σ = {three_digits(float(found.sizes[place]))}"
            with column:
                slider(
                    ZooState,
                    "factors",
                    values[place],
                    (0, MOST),
                    plain(words),
                    item=str(place + 1),
                    besides=None if chosen else FIRST_LOOK,
                    per=ONE,
                )
    return np.array(values) / ONE


def _edits(layer: int, matrix: str, factors: np.ndarray) -> tuple[ScaledSingulars, ...]:
    """The edits; empty if no factor differs from 1."""
    changed = np.flatnonzero(factors != 1)
    if not len(changed):
        return ()
    return (ScaledSingulars(layer, matrix, tuple(factors[: changed[-1] + 1].tolist())),)


def chart_of(found: Singulars, scaled: np.ndarray) -> Lines:
    """All singular values before and after."""
    places = list(range(1, len(scaled) + 1))
    return Lines(
        series=[
            Line(_("before"), places, found.sizes.tolist(), dash="dot"),
            Line(_("after"), places, scaled.tolist(), points=len(scaled) <= 64),
        ],
        x_title=_("singular value"), y_title="σ", heading=_("Singular values of {name}").format(name=found.name),
        height=240,
    )  # fmt: skip  # a line for each axis


def weights_view(opened: PageContext, found: SingularValuesView) -> ExportBundle:
    """The open head's map after the change; the map before, the difference and the singular values as further files."""
    view = change_view(found.drawn)
    heading = chart_of(found.found, found.scaled).heading
    columns = {_("before"): found.found.sizes.tolist(), _("after"): found.scaled.tolist()}
    table = pd.DataFrame(columns, index=range(1, len(found.scaled) + 1))
    name = f"L{opened.layer} {found.found.name}"
    return replace(
        view,
        what=f"{view.what}; singular values of {name} scaled, the model's weights as they are",
        tables=lambda: {**view.tables(), heading: table},
    )
