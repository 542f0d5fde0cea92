"""How far gradients reach: through a stack with and without residuals, and back in time, compared with attention."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd
import streamlit as st

from analysis.number_text import figure_number
from attention.gradient_flow import STACKS, Stack, attention_by_distance, gradient_by_depth, gradient_by_distance
from pages.steps.chains import show_charts
from pages.steps.state import StepsState, state
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding
from ui.state.controls import pick
from ui.state.url_values import options_of
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.curves import standalone

N_ = str  # marks a text for Babel without translating it here

DISTANCE = 40  # tokens back
FLOOR = 1e-12  # lower end of a logarithmic axis
NAMES: dict[Stack, str] = {
    "none": N_("no residuals"),
    "plain": N_("residuals, no norms"),
    "pre": N_("residuals, pre-norm"),
    "post": N_("residuals, post-norm"),
}


@dataclass(frozen=True, eq=False)
class Gradients:
    """Both charts, at this depth and scale of the weights."""

    depth: int
    gain: float
    charts: tuple[Lines, Lines]


def show_gradients() -> Gradients:
    """Show two controls for both charts."""
    held = state()
    depth, gain = int(held.depth), float(held.gain)
    with st.container(key="steps_knobs", horizontal=True, vertical_alignment="center", gap="medium"):
        words = _("{count} layers")
        depths = {one: words.format(count=one) for one in options_of(StepsState, "depth")}
        pick(StepsState, "depth", held.depth, depths, width=150)
        words = _("weights times {factor}")
        gains = {one: words.format(factor=one) for one in options_of(StepsState, "gain")}
        pick(StepsState, "gain", held.gain, gains, width=190)
    first = {stack: gradient_by_depth(stack, depth, gain)[0] for stack in STACKS}
    said = _("After {count} layers back the gradient is {none} of its size without residuals, {pre} with them")
    said = said.format(count=depth, none=figure_number(first["none"]), pre=figure_number(first["pre"]))
    show_finding(escape(said), escape(_("random layers, by autograd; not the model’s")))
    charts = _by_depth(depth, gain), _by_distance(gain)
    for column, chart, name in zip(st.columns(2, gap="medium"), charts, ("depth", "distance"), strict=True):
        with column:
            show_charts((chart,), f"steps_gradient_{name}")
    return Gradients(depth, gain, charts)


def _by_depth(depth: int, gain: float) -> Lines:
    places = [float(layer) for layer in range(depth + 1)]
    series = [
        Line(_(NAMES[stack]), places, [max(one, FLOOR) for one in gradient_by_depth(stack, depth, gain)])
        for stack in STACKS
    ]
    return Lines(
        series=series,
        x_title=_("layers gone through"),
        y_title=_("gradient, as a share of the last"),
        log_y=True,
        height=400,
        heading=_("The gradient of the stream by depth"),
    )


def _by_distance(gain: float) -> Lines:
    places = [float(back) for back in range(1, DISTANCE + 1)]
    recurrent = gradient_by_distance(gain, DISTANCE)[1:].clamp(min=FLOOR).tolist()
    return Lines(
        series=[
            Line(_("recurrent net: a step for each token between"), places, recurrent),
            Line(_("attention: one step, the token’s weight"), places, attention_by_distance(DISTANCE)[1:].tolist()),
        ],
        x_title=_("tokens back"),
        y_title=_("gradient that arrives there"),
        log_y=True,
        height=400,
        heading=_("The gradient from the last token to an earlier one"),
    )


def gradients_view(found: Gradients) -> ExportBundle:
    """Every line of both charts."""
    return ExportBundle(
        name=f"gradients-{found.depth}-{found.gain:g}",
        title=_("Gradients"),
        of_text=False,
        what=f"gradients of random layers, not the model's: {found.depth} layers, weights times {found.gain:g}",
        tables=lambda: {
            chart.heading: pd.DataFrame(
                {line.name: list(line.y) for line in chart.series}, [f"{x:g}" for x in chart.series[0].x]
            )
            for chart in found.charts
        },
        page=lambda title, words, lang: standalone(found.charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(found.charts, title=title, caption=words),
        code="from attention_atlas.attention.gradient_flow import STACKS, attention_by_distance\n"
        "from attention_atlas.attention.gradient_flow import gradient_by_depth, gradient_by_distance\n\n"
        f"by_depth = {{stack: gradient_by_depth(stack, {found.depth}, {found.gain!r}) for stack in STACKS}}\n"
        f"recurrent, attention = gradient_by_distance({found.gain!r}, {DISTANCE}), attention_by_distance({DISTANCE})",
        starts_with_capture=False,
    )
