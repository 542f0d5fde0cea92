"""The third view of the page Masks: perplexity against window size, for patterns of comparable cost."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from weakref import ref

import streamlit as st

from analysis.mask_effect import looks_ahead, perplexity
from analysis.mask_sweep import SWEPT, sizes
from analysis.number_text import three_digits
from attention.patterns import BY_NAME
from jobs.mask_sweep import Sweep, SweepPoint
from pages.masks.state import state
from ui.shared.finding import show_finding
from ui.shell.page import PageContext
from ui.shell.progressive import progressive, show_chart, show_progress
from ui.state import session
from ui.wording.i18n import _
from viz.chart import Line, Lines

DASHES = {"window": "solid", "sinks": "solid", "dilated": "dash", "strided": "dot"}


@dataclass(frozen=True, eq=False)
class SweepView:
    """What is drawn: the points so far and the perplexity of the unedited model."""

    points: tuple[SweepPoint, ...]
    full: float
    n_tokens: int


def show_sweep(opened: PageContext) -> SweepView | None:
    """Show the chart with its progress; None if perplexity is undefined. Raises RunnerError."""
    capture = opened.capture
    if len(capture.tokens) < 2:
        st.info(_("The text is one token long: there is nothing to predict."))
        return None
    if looks_ahead(capture):
        st.info(_("Perplexity is undefined for bidirectional models."))
        return None
    if state().hidden:
        words = _("The cells hidden by hand in the gallery are not hidden here.")
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    full, n_tokens = perplexity(capture), len(capture.tokens)
    key = (ref(opened.runner), capture.request)
    sweep: Sweep = session.jobs().get(
        "mask_sweep", key, lambda name: Sweep(opened.runner, capture.request, n_tokens, name)
    )
    progressive(sweep, lambda: _show_chart(sweep, full))
    return SweepView(tuple(sweep.items), full, n_tokens)


def _show_chart(sweep: Sweep, full: float) -> None:
    show_progress(sweep, len(sweep.trials), _("{done} of {total} forwards"), key="sweep")
    view = SweepView(tuple(sweep.items), full, sweep.n_tokens)
    if not sweep.running and (found := best(view)) is not None:
        said = _("With {size} keys a row, {pattern} predicts best: perplexity {value}").format(
            size=found.trial.size, pattern=_(BY_NAME[found.trial.pattern].label), value=three_digits(found.perplexity)
        )
        show_finding(escape(said), escape(_("full attention: {value}").format(value=three_digits(full))))
    chart = sweep_chart(view)
    show_chart(chart, key="mask_sweep", alt=chart.y_title, still=not sweep.running)


def best(view: SweepView) -> SweepPoint | None:
    """The pattern with the lowest perplexity at the middle one of the sizes that several patterns have."""
    sizes_of = [point.trial.size for point in view.points]
    several = sorted({size for size in sizes_of if sizes_of.count(size) > 1})
    if not several:
        return None
    middle = several[len(several) // 2]
    return min((point for point in view.points if point.trial.size == middle), key=lambda point: point.perplexity)


def sweep_chart(view: SweepView) -> Lines:
    """One line per pattern, over the size of the window that keeps as many cells."""
    words = _("full attention: {value}").format(value=three_digits(view.full))
    curves: list[Line] = []
    for name in SWEPT:
        own = sorted((point.trial.size, point.perplexity) for point in view.points if point.trial.pattern == name)
        places, values = [size for size, _value in own], [value for _size, value in own]
        curves.append(Line(_(BY_NAME[name].label), places, values, dash=DASHES[name], points=True))
    curves.append(Line(words, [1, view.n_tokens], [view.full, view.full], dash="dashdot", quiet=True))
    return Lines(
        series=curves,
        x_title=_("window size: keys, the query itself included; the other patterns keep about as many cells"),
        y_title=_("perplexity of the text"),
        log_x=True,
        log_y=True,
        ticks=sizes(view.n_tokens),
        height=540,
    )
