"""Work that goes on while it is looked at: what is there is drawn, and again every moment, until it ends."""

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
    """Draw as far as the work is; the whole page runs again when it ends, or when a click in it looked elsewhere."""
    shown = st.fragment(_look, run_every=TICK) if work.running else _look
    with nullcontext() if work.running else st.container():  # as a fragment has: or all in it would be mounted anew
        shown(work, draw, here=session.selection(), within=iter([True]))


def _look(work: IncrementalTask[T], draw: Callable[[], None], *, here: Selection, within: Iterator[bool]) -> None:
    """One look. Never run the page again ``within`` its own run: Streamlit (1.67) drops what that has not sent yet."""
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
        work.pull()  # last: what is drawn does not look stale while it waits
        if ticked and not work.running:
            st.rerun()
    work.looked_at = True


def show_progress(work: IncrementalTask[T], total: int, words: str, *, key: str) -> None:
    """How far it is (``words`` with done and total in it), and the buttons that stop it and let it go on.

    Nothing once all is done.
    """
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
    """Plotly's once it stays as it is; before, one changed in place: Streamlit (1.67) mounts Plotly's anew ever."""
    payload = growing.ChartPicture(chart, label=alt).packed()
    to_class(growing.SOURCE, payload, key=key, title=chart.heading)
    if still:
        st.plotly_chart(page_figure(chart), key=key, config=CONFIG, alt=alt)
    else:
        mount(growing.SOURCE, payload, key=f"{key}_growing", on={}, followed=False)
