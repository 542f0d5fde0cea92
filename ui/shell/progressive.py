"""Show work in progress: draw what is there, and redraw at intervals until the work ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from html import escape
from typing import TypeVar

import streamlit as st

from jobs.incremental_task import TICK, IncrementalTask
from model_runner import RunnerError
from ui.shell.components import mount, to_class
from ui.state import session
from ui.state.kept_click import button
from ui.state.selection import Selection
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.chart import Chart
from viz.components.chart import chart as growing
from viz.curves import CONFIG, page_figure
from viz.markdown import plain

T = TypeVar("T")


def progressive(work: IncrementalTask[T], draw: Callable[[], None]) -> None:
    """Draw the work so far; rerun the whole page when it ends, or when a click in it changed the selection."""
    shown = st.fragment(_look, run_every=TICK) if work.running else _look
    # nested as in a fragment: otherwise everything in it would be mounted again
    with nullcontext() if work.running else st.container():
        shown(work, draw, here=session.selection(), within=iter([True]))


def _look(work: IncrementalTask[T], draw: Callable[[], None], *, here: Selection, within: Iterator[bool]) -> None:
    """Draw once. Reruns of the page are not requested ``within`` its own run, since Streamlit (1.67) drops unsent
    elements.
    """
    ticked = not next(within, False)
    if ticked and (not work.running or session.selection() != here):
        st.rerun()
    if work.error is not None:
        st.warning(plain(sentence(work.error)))
    try:
        draw()
    except RunnerError:  # what it needs could not be fetched from a server: the whole page says so
        if ticked:
            st.rerun()
        raise
    if work.running and work.looked_at:
        work.pull()  # last, so that nothing drawn looks stale while waiting
        if ticked and not work.running:
            st.rerun()
    work.looked_at = True


def show_progress(work: IncrementalTask[T], total: int, words: str, *, key: str) -> None:
    """Show progress (``words`` has placeholders for done and total) and a stop or continue button until all is done."""
    if not work.running and len(work.items) >= total:
        return
    said = words.format(done=len(work.items), total=total)
    with st.container(key=key, horizontal=True, vertical_alignment="center", gap="small"):
        if work.running:
            st.progress(len(work.items) / max(1, total), text=said)
            button(_("stop"), key=f"{key}_stop", on_click=work.stop)
            return
        st.html(f"<p class='atlas-caption'>{escape(said)}</p>", width="content")
        button(_("go on"), key=f"{key}_start", on_click=work.start)


def show_chart(chart: Chart, *, key: str, alt: str, still: bool) -> None:
    """Show a Plotly chart if ``still``, else one that is updated in place: Streamlit (1.67) would remount Plotly's."""
    payload = growing.ChartPicture(chart, label=alt).packed()
    to_class(growing.SOURCE, payload, key=key, title=chart.heading)
    if still:
        st.plotly_chart(page_figure(chart), key=key, config=CONFIG, alt=alt)
    else:
        mount(growing.SOURCE, payload, key=f"{key}_growing", on={}, followed=False)
