"""The feed-forward network: its activation, how many units are active, and which tokens the strongest ones promote."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.ffn_units import activation_curves, spread
from analysis.number_text import three_digits
from model_runner.block_questions import FeedForwardUnits, Units
from model_runner.errors import NoSuchPlace
from pages.block.state import BlockState, state
from pages.block.which_text import one_text
from ui.shared.finding import bare, show_finding
from ui.shell.components import show_heading, show_html
from ui.shell.page import PageContext, asked
from ui.shell.progressive import show_chart
from ui.state.page_state import refuse
from ui.wording.i18n import _
from ui.wording.sentences import number, sentence
from viz.chart import Line, Lines

N_ = str  # marks a text for Babel without translating it here

MOST = 4.0  # end of the curves' axis; SwiGLU grows far beyond
DASHES = {"GELU": "dash", "SiLU": "dot", "SwiGLU": "dashdot"}


@dataclass(frozen=True, eq=False)
class FfnView:
    """What is drawn for one layer and token."""

    units: Units
    layer: int
    position: int
    number: int  # the token's number on the page
    charts: tuple[Lines, ...]
    promoted: tuple[tuple[str, ...], ...]


def show_ffn(opened: PageContext) -> FfnView:
    """Show three charts and the strongest units. Raises RunnerError."""
    opened = one_text(opened)
    position = len(opened.capture.tokens) - 1 if opened.query is None else opened.query
    layer = layer_of(opened)
    controls = st.container(key="block_controls", horizontal=True, vertical_alignment="center", gap="small")
    units = asked(opened, FeedForwardUnits(opened.capture.request, layer, position))
    share = number(float(units.active[layer, position]), "share")
    words = _(
        "{name}, {kind} · {count} units · {share} of them are active at {token} (the activation reads more than 0)"
    ).format(
        name=units.activation, kind=_("gated") if units.gated else _("plain"), count=f"{len(units.values):,}",
        share=share, token=f"{opened.capture.tokens[position].text} ({opened.first + position})",
    )  # fmt: skip
    with controls:
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")
    promoted = tuple(tuple(opened.runner.token_text(int(one)) for one in row) for row in units.promoted)
    if len(units.top):
        show_finding(*_finding(units, promoted), of_several=True)
    charts = (curves_chart(units), spread_chart(units), active_chart(units, position))
    for place, chart, key in zip(st.columns(3, gap="medium"), charts, ("curves", "spread", "active"), strict=True):
        with place:
            show_heading(escape(chart.heading))
            show_chart(chart, key=f"ffn_{key}", alt=chart.heading, still=True)
    show_html(units_table(units, promoted), key="ffn_units")
    return FfnView(units, layer, position, opened.first + position, charts, promoted)


def _finding(units: Units, promoted: tuple[tuple[str, ...], ...]) -> tuple[str, str]:
    """The unit that adds the longest vector, and the token that it promotes most; HTML."""
    unit, length = int(units.top[0]), three_digits(float(units.lengths[0]))
    beside = f"{length_name(units)}: {length}"
    if not units.promoted.shape[1]:
        return escape(_("Unit {unit} adds most").format(unit=unit)), escape(beside)
    said = _("Unit {unit} adds most: {logit} to the logit of “{token}”")
    logit = f"{float(units.logits[0, 0]):+.2f}".replace("-", "−")
    token = f"<bdi>{escape(bare(promoted[0][0]))}</bdi>"
    return said.format(unit=unit, logit=logit, token=token), escape(beside)


def layer_of(opened: PageContext) -> int:
    """The chosen layer, or the open one; an invalid one is reported and dropped."""
    held = state().layer
    if held is not None and held >= opened.capture.n_layers:
        refuse(BlockState, "layer", sentence(NoSuchPlace(what=N_("layer"), value=held, count=opened.capture.n_layers)))
        held = None
    return opened.layer if held is None else held


def curves_chart(units: Units) -> Lines:
    """The activation functions as curves, the model's own first."""
    found = activation_curves(units.activation)
    order = sorted(found.curves, key=lambda name: name != units.activation)
    series = [
        Line(_("{name} (this model)").format(name=name) if name == units.activation else name, found.x.tolist(),
             np.where(found.curves[name] > MOST, np.nan, found.curves[name]).tolist(),
             dash="solid" if name == units.activation else DASHES.get(name, "dash"),
             quiet=name == "ReLU" and units.activation != "ReLU")
        for name in order
    ]  # fmt: skip  # one line of the chart
    return Lines(series=series, x_title=_("input"), y_title=_("output"), height=300, heading=_("Activation"))


def spread_chart(units: Units) -> Lines:
    """The distribution of this layer's pre-activations at this token."""
    shares, middles = spread(units.before.double().numpy())
    line = Line(_("share of units"), middles.tolist(), shares.tolist())
    return Lines(
        series=[line], x_title=_("input of the activation"), y_title=_("share of units"), height=300, marker=(0.0, "0"),
        heading=_("What its units read here"),
    )  # fmt: skip


def active_chart(units: Units, position: int) -> Lines:
    """The share of active units in every layer, for this token and on average."""
    active = units.active.double().numpy()
    layers = list(range(len(active)))
    with np.errstate(invalid="ignore"):
        series = [
            Line(_("this token"), layers, active[:, position].tolist(), points=True),
            Line(_("mean over all tokens"), layers, active.mean(axis=1).tolist(), dash="dash", points=True),
        ]
    return Lines(
        series=series, x_title=_("layer"), y_title=_("share of units"), height=300, heading=_("Active units by layer")
    )


def length_name(units: Units) -> str:
    """What the lengths of the strongest units measure."""
    if units.follows == "norm":
        return _("norm of what it adds, after the norm that follows")
    return _("norm of what it adds") if units.follows == "nothing" else _("norm of its column times its value")


def units_table(units: Units, promoted: tuple[tuple[str, ...], ...]) -> str:
    """The strongest units: what each adds, and the tokens whose logits it raises most."""
    heads = [_("FFN unit"), _("its value"), length_name(units)]
    heads += [_("tokens that it promotes, with what it adds to their logits")] if units.promoted.shape[1] else []
    body = ""
    for place, unit in enumerate(units.top.tolist()):
        value, length = float(units.values[unit]), float(units.lengths[place])
        cells = [f"{'−' if value < 0 else '+'}{three_digits(abs(value))}", three_digits(length)]
        if units.promoted.shape[1]:
            logits = [f"{float(one):+.2f}".replace("-", "−") for one in units.logits[place]]
            pairs = zip(promoted[place], logits, strict=True)
            cells.append("&emsp;".join(f"<bdi>{escape(word)}</bdi> {logit}" for word, logit in pairs))
        left = "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells)
        body += f"<tr><th>{unit}</th>{left}</tr>"
    if not units.promoted.shape[1]:
        words = _(
            "Which tokens they promote is not shown: the way from these units to the logits is not proven linear."
        )
        body += f"<tr><td colspan='3'>{escape(words)}</td></tr>"
    head = "".join(f"<th style='text-align:left'>{escape(one)}</th>" for one in heads)
    table = f"<table class='atlas-costs atlas-ranks'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='atlas-wide'>{table}</div>"
