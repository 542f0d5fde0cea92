"""The effect of long rows: entropy grows with the number of keys, log n scaling, and a fixed gap loses its effect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.row_entropies import row_entropies
from attention.row_length import LENGTHS, LONGEST_DRAWN, TRAINED, random_entropy, weight_above
from pages.steps.chains import show_charts
from pages.steps.knobs import turn
from pages.steps.state import LARGEST_GAP, SMALLEST_GAP, state
from ui.shared import cached
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding
from ui.shell.components import mount, show_heading
from ui.shell.page import PageContext
from ui.wording.i18n import _, language
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.components.chart import chart
from viz.curves import standalone

GAP_STEP = 0.5


@dataclass(frozen=True, eq=False)
class Length:
    """Both charts, and the gap of the second."""

    charts: tuple[Lines, ...]
    gap: float


def show_length(opened: PageContext) -> Length:
    """Show, on the left, the dispersion for a gap set by a slider; on the right, entropy against the number of keys."""
    gap = state().gap
    charts = _entropies(opened), _dispersion(gap)
    said = _("Among {count} keys, a score {gap} above all others gets half of the weight")
    show_finding(
        escape(said.format(gap=f"{gap:g}", count=_half_at(gap))),
        escape(_("a formula, not this model’s numbers")),
        of_several=True,
    )
    left, right = st.columns(2, gap="medium")
    with left:
        show_heading(escape(charts[1].heading))
        payload = cached.made((gap, language()), lambda: _turning(charts[1], gap))
        mount(chart.SOURCE, payload, key="steps_length_gap", on={"knob": lambda value: turn({"gap": value})})
    with right:
        words = _(
            "Scaled: the scores times log n ÷ log {n}, n keys in the row; {n} is an assumed length that a model was "
            "trained on. Rows shorter than that get flatter (more bits), longer ones sharper (fewer); at n = {n} the "
            "lines meet. The points are the rows of the open head, as they are."
        ).format(n=TRAINED)
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
        show_charts((charts[0],), "steps_length_entropy")
    return Length(charts, gap)


def _turning(drawn: Lines, gap: float) -> bytes:
    """The chart for the chosen gap with all other gaps behind it; the same for every text and head."""
    return chart.ChartPicture(drawn, label=drawn.heading, knob=_gaps(gap)).packed()


def _half_at(gap: float) -> str:
    """The number of keys among which one that is above the others by this gap has half of the weight."""
    return f"{1 + math.exp(gap):,.0f}"


def _gaps(gap: float) -> chart.Slider:
    """The chart for every gap of the slider, and for the chosen one."""
    usual = [SMALLEST_GAP + GAP_STEP * step for step in range(int((LARGEST_GAP - SMALLEST_GAP) / GAP_STEP) + 1)]
    values = sorted({*usual, gap})
    words = _("half at {count} keys")
    return chart.Slider(
        label=_("gap between one score and all others"), values=values, at=gap,
        charts=[_dispersion(value) for value in values],
        said=[words.format(count=_half_at(value)) for value in values],
    )  # fmt: skip  # its two ends in a line


def _entropies(opened: PageContext) -> Lines:
    seen, bits = row_entropies(opened.capture, opened.layer, opened.head)
    drawn = [n for n in LENGTHS if n <= LONGEST_DRAWN]
    places = [float(n) for n in drawn]
    plain, scaled = ([random_entropy(n, log_n=on) for n in drawn] for on in (False, True))
    return Lines(
        series=[
            Line(_("random scores"), places, plain),
            Line(_("the same times log n ÷ log {n}").format(n=TRAINED), places, scaled),
            Line(f"L{opened.layer}H{opened.head}", seen.tolist(), bits.tolist(), points=True),
            Line(_("at most: log₂ n"), places, [math.log2(n) for n in drawn], dash="dot", quiet=True),
        ],
        x_title=_("keys that a row sees"), y_title=_("entropy, bits"), log_x=True, height=430,
        heading=_("Entropy of a row: how many bits it takes to say where it looks"),
    )  # fmt: skip  # one line a series


def _dispersion(gap: float) -> Lines:
    places, name = [float(n) for n in LENGTHS], _("gap {gap}")
    single, scaled, double = (
        [weight_above(one, n, log_n=on) for n in LENGTHS] for one, on in ((gap, False), (gap, True), (2 * gap, False))
    )
    return Lines(
        series=[
            Line(name.format(gap=f"{gap:g}"), places, single),
            Line(_("the same times log n ÷ log {n}").format(n=TRAINED), places, scaled),
            Line(name.format(gap=f"{2 * gap:g}"), places, double, dash="dash"),
        ],
        x_title=_("keys that a row sees"), y_title=_("weight of the one key"), log_x=True, height=430,
        y_range=(0.0, 1.05),
        heading=_("One score above all others: its weight as the text grows"),
    )  # fmt: skip  # one line a series


def length_view(opened: PageContext, found: Length) -> ExportBundle:
    """Both charts as drawn."""
    layer, head = opened.layer, opened.head
    return ExportBundle(
        name=f"row-length-L{layer}H{head}",
        title=_("Entropy and length"),
        what=f"entropy of the head's rows beside random ones, and a gap of {found.gap:g} by formula",
        tables=lambda: {
            f"{one.heading} · {line.name}": pd.DataFrame({one.y_title: list(line.y)}, [f"{n:g}" for n in line.x])
            for one in found.charts for line in one.series
        },
        page=lambda title, words, lang: standalone(found.charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(found.charts, title=title, caption=words),
        arrays={"lengths": np.array(LENGTHS)},
        code="\nfrom attention_atlas.analysis.row_entropies import row_entropies\n"
        "from attention_atlas.attention.row_length import random_entropy, weight_above\n\n"
        f"seen, bits = row_entropies(capture, {layer}, {head})\n"
        f"random = [random_entropy(n, log_n=False) for n in {[n for n in LENGTHS if n <= LONGEST_DRAWN]}]\n"
        f"weights = [weight_above({found.gap!r}, n, log_n=False) for n in {LENGTHS}]  # log_n=True: scores · log n",
    )  # fmt: skip  # two loops in a line
