"""The third view of the page Masks: perplexity against the size of the window, for patterns of comparable cost.

Each point is one small job of the model's, pulled while somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from weakref import ref

import streamlit as st

from analysis.mask_effect import looks_ahead, perplexity
from analysis.mask_sweep import SWEPT, Values, matched, sizes
from attention.patterns import BY_NAME, causal_cells
from model_runner import Capture, CaptureRequest, Runner
from model_runner.edits import Masked
from model_runner.worker import Job
from ui import session
from ui.i18n import _
from ui.kv_pull import TICK, Pull
from ui.page import Opened
from ui.wording import plain, sentence
from viz.curves import CONFIG, Line, lines

LEVEL = "rgba(128, 128, 128, 0.9)"  # reads on both themes
DASHES = {"window": "solid", "sinks": "solid", "dilated": "dash", "strided": "dot"}


@dataclass(frozen=True)
class Trial:
    """A pattern whose kept cells are about those of a window of this ``size``."""

    pattern: str
    size: int
    values: Values


@dataclass(frozen=True)
class Point:
    """A trial with the share of causal cells it keeps and the perplexity it leaves."""

    trial: Trial
    share: float
    perplexity: float


def trials_of(n_tokens: int) -> tuple[Trial, ...]:
    """Every point of the chart, the sizes in turn so that all curves grow together."""
    return tuple(
        Trial(name, size, values)
        for size in reversed(sizes(n_tokens))
        for name in SWEPT
        if (values := matched(name, n_tokens, size)) is not None
    )


class Sweep(Pull[Point]):
    """A point for every trial."""

    def __init__(self, runner: Runner, request: CaptureRequest, n_tokens: int, name: str) -> None:
        """``name`` stands for the session where it asks the runner."""
        trials = self.trials = trials_of(n_tokens)
        self.n_tokens = n_tokens

        def submit(index: int) -> Job[Any] | None:
            if index >= len(trials):
                return None
            edits = (Masked(trials[index].pattern, trials[index].values),)
            return runner.submit(replace(request, edits=edits), session=name)

        def read(index: int, after: Capture) -> Point:
            trial = trials[index]
            cells = BY_NAME[trial.pattern].kept_cells(n_tokens, dict(trial.values))
            return Point(trial, cells / causal_cells(n_tokens), perplexity(after))

        super().__init__(submit, read, running=True)


@dataclass(frozen=True, eq=False)
class SweepView:
    """What is drawn: the points so far and the perplexity of the unchanged model."""

    points: tuple[Point, ...]
    full: float
    n_tokens: int


def show_sweep(opened: Opened) -> SweepView | None:
    """The chart with its progress; None where there is no perplexity to draw. Raises RunnerError."""
    capture = opened.capture
    if len(capture.tokens) < 2:
        st.info(_("The text is one token long: there is nothing to predict."))
        return None
    if looks_ahead(capture):
        st.info(_("No perplexity: this model sees the tokens that it would have to predict."))
        return None
    full = perplexity(capture)
    request = capture.request
    sweep: Sweep = session.works().get(
        "mask_sweep",
        (ref(opened.runner), request),
        lambda name: Sweep(opened.runner, request, len(capture.tokens), name),
    )
    sweep.pull()
    draw = st.fragment(_show_chart, run_every=TICK) if sweep.running else _show_chart
    draw(sweep, full, within=iter([True]))
    return SweepView(tuple(sweep.items), full, sweep.n_tokens)


def _show_chart(sweep: Sweep, full: float, *, within: Iterator[bool]) -> None:
    """The chart so far; when the work ends, the whole page runs again, which stops the ticking.

    But never ``within`` the page's own run: Streamlit (1.67) drops what that run has not sent yet.
    """
    if not next(within, False):
        sweep.pull()
        if not sweep.running:
            st.rerun()
    if sweep.error is not None:
        st.warning(plain(sentence(sweep.error)))
    with st.container(key="sweep_controls", horizontal=True, vertical_alignment="center", gap="small"):
        done, total = len(sweep.items), len(sweep.trials)
        if sweep.running:
            st.progress(done / total, text=_("{done} of {total} forwards").format(done=done, total=total))
            st.button(_("stop"), key="sweep_stop", on_click=sweep.stop)
        else:
            words = _("{done} of {total} forwards").format(done=done, total=total)
            st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="content")
            if done < total:
                st.button(_("go on"), key="sweep_start", on_click=sweep.start)
    st.plotly_chart(sweep_figure(tuple(sweep.items), full, sweep.n_tokens, height=540), key="mask_sweep", config=CONFIG)


def sweep_figure(points: tuple[Point, ...], full: float, n_tokens: int, *, height: int) -> Any:
    """A line for each pattern over the size of the window that keeps as many cells; a Plotly figure."""
    words = _("full attention: {value}").format(value=f"{full:.3g}")
    curves: list[Line] = []
    for name in SWEPT:
        own = sorted((point.trial.size, point.perplexity) for point in points if point.trial.pattern == name)
        places, values = [size for size, _value in own], [value for _size, value in own]
        curves.append(Line(_(BY_NAME[name].label), places, values, dash=DASHES[name], points=True))
    curves.append(Line(words, [1, n_tokens], [full, full], dash="dashdot"))
    figure: Any = lines(
        curves,
        x_title=_("window size: keys, the query itself included; the other patterns keep about as many cells"),
        y_title=_("perplexity of the text"),
        log_x=True,
        log_y=True,
        height=height,
    )
    figure.data[-1].line.color = LEVEL
    figure.update_xaxes(tickmode="array", tickvals=list(sizes(n_tokens)))
    return figure
