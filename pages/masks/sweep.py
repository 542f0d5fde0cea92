"""The third view of the page Masks: perplexity against the size of the window, for patterns of comparable cost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from weakref import ref

import streamlit as st

from analysis.mask_effect import looks_ahead, perplexity
from analysis.mask_sweep import SWEPT, sizes
from attention.patterns import BY_NAME
from jobs.mask_sweep import Point, Sweep
from ui import session
from ui.i18n import _
from ui.page import PageContext
from ui.progressive import progressive, show_progress
from viz.curves import CONFIG, Line, lines

LEVEL = "rgba(128, 128, 128, 0.9)"  # reads on both themes
DASHES = {"window": "solid", "sinks": "solid", "dilated": "dash", "strided": "dot"}


@dataclass(frozen=True, eq=False)
class SweepView:
    """What is drawn: the points so far and the perplexity of the unchanged model."""

    points: tuple[Point, ...]
    full: float
    n_tokens: int


def show_sweep(opened: PageContext) -> SweepView | None:
    """The chart with its progress; None where there is no perplexity to draw. Raises RunnerError."""
    capture = opened.capture
    if len(capture.tokens) < 2:
        st.info(_("The text is one token long: there is nothing to predict."))
        return None
    if looks_ahead(capture):
        st.info(_("No perplexity: this model sees the tokens that it would have to predict."))
        return None
    full, n_tokens = perplexity(capture), len(capture.tokens)
    key = (ref(opened.runner), capture.request)
    sweep: Sweep = session.jobs().get(
        "mask_sweep", key, lambda name: Sweep(opened.runner, capture.request, n_tokens, name)
    )
    progressive(sweep, lambda: _show_chart(sweep, full))
    return SweepView(tuple(sweep.items), full, n_tokens)


def _show_chart(sweep: Sweep, full: float) -> None:
    show_progress(sweep, len(sweep.trials), _("{done} of {total} forwards"), key="sweep")
    figure = sweep_figure(tuple(sweep.items), full, sweep.n_tokens, height=540)
    st.plotly_chart(figure, key="mask_sweep", config=CONFIG)


def sweep_figure(points: tuple[Point, ...], full: float, n_tokens: int, *, height: int) -> Any:
    """A line for each pattern over the size of the window that keeps as many cells; a Plotly figure."""
    words = _("full attention: {value}").format(value=f"{full:.3g}")
    curves: list[Line] = []
    for name in SWEPT:
        own = sorted((point.trial.size, point.perplexity) for point in points if point.trial.pattern == name)
        places, values = [size for size, _value in own], [value for _size, value in own]
        curves.append(Line(_(BY_NAME[name].label), places, values, dash=DASHES[name], points=True))
    curves.append(Line(words, [1, n_tokens], [full, full], dash="dashdot"))
    title = _("window size: keys, the query itself included; the other patterns keep about as many cells")
    figure: Any = lines(
        curves,
        x_title=re.sub("([;；]) ?", r"\1<br>", title),  # on a phone there is no room for both in a line
        y_title=_("perplexity of the text"),
        log_x=True,
        log_y=True,
        height=height,
    )
    figure.data[-1].line.color = LEVEL
    figure.update_xaxes(tickmode="array", tickvals=list(sizes(n_tokens)))
    return figure
