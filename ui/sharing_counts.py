"""The second view of the page Sharing heads: every number of key/value heads, one forward each, with what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import ref

import streamlit as st

from analysis.comparison import next_token_change
from analysis.mask_effect import looks_ahead, perplexity
from analysis.sharing import pooled_bytes
from model_runner import Capture
from model_runner.edits import SharedKeys
from model_runner.errors import NoLogits
from model_runner.memory import readable
from model_runner.worker import Job
from ui import session
from ui.i18n import _
from ui.kv_pull import TICK, Pull
from ui.page import Opened
from ui.sharing_picture import Shares, kind, show_picture
from ui.wording import plain, sentence
from viz.curves import CONFIG, bars

GREY = 3  # among the theme's colours of series


@dataclass(frozen=True)
class Point:
    """What averaging to ``kv_heads`` leaves; NaN where the model has no such number."""

    kv_heads: int
    kl: float
    perplexity: float


class Counts(Pull[Point]):
    """A point for every number of key/value heads, most heads first."""

    def __init__(self, opened: Opened, counts: tuple[int, ...], name: str) -> None:
        """``name`` stands for the session where it asks the runner."""
        self.counts = counts
        before = opened.capture
        request, blind = before.request, not looks_ahead(before)

        def submit(index: int) -> Job[Any] | None:
            if index >= len(counts):
                return None
            edits = (*request.edits, SharedKeys(counts[index]))
            return opened.runner.submit(replace(request, edits=edits), session=name)

        def read(index: int, after: Capture) -> Point:
            kl = _or_nan(lambda: next_token_change(before, after).kl)
            return Point(counts[index], kl, _or_nan(lambda: perplexity(after)) if blind else math.nan)

        super().__init__(submit, read, running=True)


def _or_nan(number: Callable[[], float]) -> float:
    try:
        return number()
    except NoLogits:
        return math.nan


@dataclass(frozen=True, eq=False)
class CountsView:
    """What is drawn: the points so far, bytes of the cache by number of heads (none: no cache), and what is known."""

    shares: Shares
    points: tuple[Point, ...]
    n_bytes: dict[int, int]
    n_heads: int
    perplexity: float  # of the unchanged model

    def label(self, kv_heads: int) -> str:
        """MQA · 1"""
        return f"{kind(kv_heads, self.n_heads)} · {kv_heads}"


def show_counts(opened: Opened) -> CountsView | None:
    """Who shares what, and the charts with their progress; None where nothing is left to share."""
    shares, capture = show_picture(opened), opened.capture
    if shares.alone:
        st.info(_("This model has a single key/value head for all query heads (MQA): nothing is left to share."))
        return None
    key = (ref(opened.runner), capture.request)
    held: Counts = session.works().get("sharing_counts", key, lambda name: Counts(opened, shares.counts, name))
    n_bytes = {}
    if shares.cache is not None:
        n_bytes = {count: pooled_bytes(capture, shares.cache, count) for count in shares.counts}
    own = math.nan if looks_ahead(capture) else _or_nan(lambda: perplexity(capture))
    view = CountsView(shares, (), n_bytes, capture.record(opened.layer).q.shape[0], own)
    draw = st.fragment(_show_charts, run_every=TICK) if held.running else _show_charts
    draw(held, view, within=iter([True]))
    return replace(view, points=tuple(held.items))


def _show_charts(held: Counts, view: CountsView, *, within: Iterator[bool]) -> None:
    """The charts so far; the whole page runs again when the work is done, so that it no longer ticks.

    But never ``within`` the page's own run: Streamlit (1.67) drops what that run has not sent yet.
    """
    ticked = not next(within, False)
    if ticked and not held.running:
        st.rerun()
    if held.error is not None:
        st.warning(plain(sentence(held.error)))
    done, total = len(held.items), len(held.counts)
    with st.container(key="sharing_progress", horizontal=True, vertical_alignment="center", gap="small"):
        words = _("{done} of {count} forwards").format(done=done, count=total)
        if held.running:
            st.progress(done / total, text=words)
            st.button(_("Stop"), key="sharing_stop", on_click=held.stop)
        elif done < total:
            st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
            st.button(_("Go on"), key="sharing_on", on_click=held.start)
    shown = charts(replace(view, points=tuple(held.items)))
    for place, chart in zip(st.columns(len(shown), gap="medium"), shown, strict=True):
        with place:
            st.html(f"<div class='atlas-head'><b>{chart.heading}</b> <span>{chart.note}</span></div>")
            st.plotly_chart(chart.figure, key=f"sharing_{chart.name}", config=CONFIG, alt=chart.heading)
    if held.running:
        held.pull()  # last: what is drawn does not look stale while it waits
        if ticked and not held.running:
            st.rerun()


@dataclass(frozen=True, eq=False)
class Chart:
    """One of the charts; ``values`` by number of heads, NaN where still to come."""

    name: str
    heading: str
    note: str
    values: tuple[float, ...]
    figure: Any


def charts(view: CountsView) -> list[Chart]:
    """KL, perplexity and bytes, as far as this model has them."""
    points = {point.kv_heads: point for point in view.points}
    counts = view.shares.counts
    kl = [points[count].kl if count in points else math.nan for count in counts]
    left = [points[count].perplexity if count in points else math.nan for count in counts]
    before = _("{value} unchanged").format(value=f"{view.perplexity:.3g}")
    found = [
        _chart("kl", _("Next token: KL"), _("nats, from the unchanged model"), view, kl, [f"{one:.3g}" for one in kl])
    ]
    if not math.isnan(view.perplexity):
        found.append(_chart("perplexity", _("Perplexity"), before, view, left, [f"{one:.3g}" for one in left]))
    if view.n_bytes:
        held = [float(view.n_bytes[count]) for count in counts]
        found.append(_chart("bytes", _("Cache"), _("of this text"), view, held, [readable(one) for one in held]))
    return found


def _chart(
    name: str, heading: str, note: str, view: CountsView, values: Sequence[float], words: Sequence[str]
) -> Chart:
    """A bar for each number of heads, the chosen one in colour."""
    counts = view.shares.counts
    known = [None if math.isnan(value) else value for value in values]
    said = ["–" if math.isnan(value) else word for value, word in zip(values, words, strict=True)]
    colors = [0 if count == view.shares.chosen else GREY for count in counts]
    figure = bars([view.label(count) for count in counts], known, said, colors=colors, height=30 + 34 * len(counts))
    return Chart(name, heading, note, tuple(values), figure)
