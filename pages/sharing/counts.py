"""The second view of the page Sharing heads: every number of key/value heads, one forward each, and its cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from weakref import ref

import streamlit as st

from analysis.comparison import output_position
from analysis.number_text import significant, three_digits
from analysis.sharing import pooled_bytes
from jobs.sharing_counts import SharingPoint, SharingRun, perplexity_of
from model_runner.memory import readable
from pages.sharing.picture import Shares, kind, show_picture
from ui.shared.finding import show_finding
from ui.shared.what_if import output_name
from ui.shell.components import show_heading
from ui.shell.page import PageContext
from ui.shell.progressive import progressive, show_chart, show_progress
from ui.state import session
from ui.wording.i18n import _
from viz.chart import Bars

GREY = 3  # index among the theme's series colours


@dataclass(frozen=True, eq=False)
class CountsView:
    """What is drawn: the points so far, and the cache's bytes by number of heads (empty: no cache)."""

    shares: Shares
    points: tuple[SharingPoint, ...]
    n_bytes: dict[int, int]
    n_heads: int
    perplexity: float  # of the unedited model
    position: int | None  # of the token that an encoder predicts

    def label(self, kv_heads: int) -> str:
        """A label, such as: MQA · 1."""
        return f"{kind(kv_heads, self.n_heads)} · {kv_heads}"


def show_counts(opened: PageContext) -> CountsView | None:
    """Show the groups and the charts with their progress; None if nothing is left to share."""
    shares, capture = show_picture(opened), opened.capture
    if shares.alone:
        st.info(_("This model has a single key/value head for all query heads (MQA): nothing is left to share."))
        return None
    position = output_position(capture, opened.query)
    key = (ref(opened.runner), capture.request, position)
    held: SharingRun = session.jobs().get(
        "sharing_counts", key, lambda name: SharingRun(opened.runner, capture, shares.counts, name, position)
    )
    n_bytes = {}
    if shares.cache is not None:
        n_bytes = {count: pooled_bytes(capture, shares.cache, count) for count in shares.counts}
    n_heads = capture.record(opened.layer).q.shape[0]
    view = CountsView(shares, (), n_bytes, n_heads, perplexity_of(capture), position)
    progressive(held, lambda: _show_charts(held, replace(view, points=tuple(held.items))))
    return replace(view, points=tuple(held.items))


def _show_charts(held: SharingRun, view: CountsView) -> None:
    """Show the charts so far."""
    if len(held.items) < len(held.counts):
        show_progress(held, len(held.counts), _("{done} of {total} forwards"), key="sharing")
    if view.points and not held.running:
        show_finding(*_finding(view), of_several=True)
    shown = charts(view)
    for place, chart in zip(st.columns(len(shown), gap="medium"), shown, strict=True):
        with place:
            drawn = chart.drawn
            show_heading(drawn.heading, drawn.note)
            show_chart(drawn, key=f"sharing_{chart.name}", alt=drawn.heading, still=not held.running)


def _finding(view: CountsView) -> tuple[str, str]:
    """The cost and the saving of the smallest number of key/value heads; HTML."""
    fewest = min(view.points, key=lambda point: point.kv_heads)
    said = _("With {count} key/value heads, the prediction shifts by {kl} bits")
    if fewest.kv_heads == 1:
        said = _("With one key/value head for all, the prediction shifts by {kl} bits")
    said = said.format(count=fewest.kv_heads, kl=significant(fewest.kl, 3))
    bytes_left = view.n_bytes.get(fewest.kv_heads)
    beside = "" if bytes_left is None else _("Cache") + f" {readable(bytes_left)}"
    return escape(said), escape(beside)


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart; ``values`` by number of heads, NaN where pending."""

    name: str
    values: tuple[float, ...]
    drawn: Bars


def charts(view: CountsView) -> list[Chart]:
    """KL divergence, perplexity and bytes, as far as they are defined for this model."""
    points = {point.kv_heads: point for point in view.points}
    counts = view.shares.counts
    kl = [points[count].kl if count in points else math.nan for count in counts]
    left = [points[count].perplexity if count in points else math.nan for count in counts]
    before = _("{value} unchanged").format(value=three_digits(view.perplexity))
    name = _("{what}: KL").format(what=output_name(view.position))
    found = [_chart("kl", name, _("bits, from the unchanged model"), view, kl, [significant(one, 3) for one in kl])]
    if not math.isnan(view.perplexity):
        found.append(_chart("perplexity", _("Perplexity"), before, view, left, [three_digits(one) for one in left]))
    if view.n_bytes:
        held = [float(view.n_bytes[count]) for count in counts]
        found.append(_chart("bytes", _("Cache"), _("of this text"), view, held, [readable(one) for one in held]))
    return found


def _chart(
    name: str, heading: str, note: str, view: CountsView, values: Sequence[float], words: Sequence[str]
) -> Chart:
    """A bar for each number of heads, the chosen one coloured."""
    counts = view.shares.counts
    known = [None if math.isnan(value) else value for value in values]
    said = ["–" if math.isnan(value) else word for value, word in zip(values, words, strict=True)]
    colors = [0 if count == view.shares.chosen else GREY for count in counts]
    drawn = Bars(
        labels=[view.label(count) for count in counts],
        values=known,
        words=said,
        colors=colors,
        height=30 + 34 * len(counts),
        heading=heading,
        note=note,
    )
    return Chart(name, tuple(values), drawn)
