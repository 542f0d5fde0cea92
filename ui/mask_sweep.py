"""The third view of the page Masks: perplexity against the size of the window, for patterns of comparable cost.

Each point is one small job of the model's, pulled while somebody looks.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import streamlit as st

from analysis.mask_effect import looks_ahead, perplexity
from analysis.mask_sweep import SWEPT, Values, matched, sizes
from attention.patterns import BY_NAME, causal_cells
from model_runner import Capture, CaptureRequest, Runner
from model_runner.edits import Masked
from model_runner.errors import RunnerError
from model_runner.worker import Job
from ui import session
from ui.i18n import _
from ui.kv_pull import BUDGET, TICK
from ui.page import Opened, guarded
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


class Sweep:
    """The points there are, and the job under way."""

    def __init__(self, runner: Runner, request: CaptureRequest, n_tokens: int, name: str) -> None:
        """``name`` stands for the session where it asks the runner."""
        self.trials = trials_of(n_tokens)
        self.points: list[Point] = []
        self.running = True
        self.n_tokens = n_tokens
        self._runner, self._request, self._name = runner, request, name
        self._job: Job[Capture] | None = None

    @property
    def done(self) -> bool:
        return len(self.points) == len(self.trials)

    def start(self) -> None:
        """From now on a pull does something."""
        self.running = True

    def close(self) -> None:
        """End the job under way, and do nothing from now on."""
        self.running = False
        if self._job is not None:
            self._job.cancel()
            self._job = None

    def pull(self) -> None:
        """A moment's worth of points. Raises RunnerError, which ends it."""
        until = time.monotonic() + BUDGET
        while self.running and time.monotonic() < until:
            if self.done:
                self.running = False
                return
            trial = self.trials[len(self.points)]
            if self._job is None:
                edits = (Masked(trial.pattern, trial.values),)
                self._job = self._runner.submit(replace(self._request, edits=edits), session=self._name)
            if not self._job.wait(max(0.0, until - time.monotonic())):
                return
            job, self._job = self._job, None
            try:
                left = perplexity(job.result())
            except RunnerError:
                self.running = False
                raise
            cells = BY_NAME[trial.pattern].kept_cells(self.n_tokens, dict(trial.values))
            self.points.append(Point(trial, cells / causal_cells(self.n_tokens), left))


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
        "mask_sweep", request, lambda name: Sweep(opened.runner, request, len(capture.tokens), name)
    )
    st.fragment(_show_chart, run_every=TICK if sweep.running else None)(sweep, full, ticking=sweep.running)
    return SweepView(tuple(sweep.points), full, sweep.n_tokens)


def _show_chart(sweep: Sweep, full: float, *, ticking: bool) -> None:
    """The chart so far; when the work begins or ends, the whole page runs again, which starts or stops the ticking."""
    guarded(sweep.pull)
    with st.container(key="sweep_controls", horizontal=True, vertical_alignment="center", gap="small"):
        done, total = len(sweep.points), len(sweep.trials)
        if sweep.running:
            st.progress(done / total, text=_("{done} of {total} forwards").format(done=done, total=total))
            st.button(_("stop"), key="sweep_stop", on_click=sweep.close)
        else:
            words = _("{done} of {total} forwards").format(done=done, total=total)
            st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="content")
            if not sweep.done:
                st.button(_("go on"), key="sweep_start", on_click=sweep.start)
    st.plotly_chart(
        sweep_figure(tuple(sweep.points), full, sweep.n_tokens, height=540), key="mask_sweep", config=CONFIG
    )
    if ticking != sweep.running:
        st.rerun()


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
