"""Two views of the page Compare: every metric of both heads, and both models' predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.aligned_heads import sides_of
from analysis.alignment import aligned
from analysis.comparison import output_position
from analysis.mask_effect import looks_ahead
from analysis.next_pair import NextPair, next_pair
from analysis.number_text import significant
from analysis.opening import opening_query
from attention.metrics import METRICS, Metric
from model_runner import Runner
from pages.compare.names import names_of
from pages.compare.state import state
from ui.shared import cached
from ui.shared.finding import bare, show_finding
from ui.shared.what_if import output_name
from ui.shell.components import show_html
from ui.shell.page import PageContext, translated
from ui.state.frame_slots import frame_slots
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.distribution import TEXTS
from viz.paired_bars import Pair, paired_bars
from viz.share_text import share_digits

SHOWN = 5  # likeliest tokens of each side that are shown
STEP = 4000  # tokens of a vocabulary between two interruption checks


@dataclass(frozen=True)
class MetricPair:
    """A metric of both heads; NaN if undefined."""

    metric: Metric
    first: float
    second: float


@dataclass(frozen=True)
class Predictions:
    """Predictions of both sides: the next token, or for an encoder the token at ``places``; None: the next."""

    pair: NextPair
    places: tuple[int | None, int | None]


def show_metrics(opened: PageContext, other: PageContext) -> tuple[MetricPair, ...]:
    """Show one row per metric: its definition, both heads and the difference."""
    found = metric_pairs(opened, other)
    show_finding(*_most_apart(found))
    show_html(metrics_html(found, *names_of(opened, other, layers=state().layers)), key="compare_metrics")
    words = _("Means over each side’s own tokens: a finer cut has more and shorter tokens, so the means differ.")
    if opened.runner is not other.runner or opened.capture.text != other.capture.text:
        st.html(f"<p class='atlas-caption'>{words}</p>")
    return found


def _most_apart(found: tuple[MetricPair, ...]) -> tuple[str, str]:
    """The share that differs most; HTML."""
    shares = [one for one in found if one.metric.unit == "share" and not math.isnan(one.first - one.second)]
    most = max(shares, key=lambda one: abs(one.first - one.second), default=None)
    if most is None or abs(most.first - most.second) < 0.0005:
        return _("No share tells them apart"), ""
    said = _("Furthest apart in: {metric}").format(metric=_(most.metric.label))
    return escape(said), escape(f"A {_tenths(most.first)} · B {_tenths(most.second)}")


def metric_pairs(opened: PageContext, other: PageContext) -> tuple[MetricPair, ...]:
    """Metrics of both heads, or means over the heads of their layers."""
    grids = [cached.grid(side.capture).metrics for side in (opened, other)]
    return tuple(
        MetricPair(
            metric, *(_value(grid[metric.name], side) for grid, side in zip(grids, (opened, other), strict=True))
        )
        for metric in METRICS
    )


def _value(values: np.ndarray, side: PageContext) -> float:
    if not state().layers:
        return float(values[side.layer, side.head])
    known = values[side.layer][~np.isnan(values[side.layer])]
    return float(known.mean()) if len(known) else math.nan


def metrics_title() -> str:
    """The title of the metrics table."""
    return (
        _("Every metric of both layers, means over their heads") if state().layers else _("Every metric of both heads")
    )


def metrics_html(found: tuple[MetricPair, ...], first: str, second: str) -> str:
    """The table; bars of shares are relative to 100 %, of other numbers to the larger of the two."""
    rows = []
    for one in found:
        values = one.first, one.second
        top = 1.0 if one.metric.unit == "share" else max([value for value in values if value == value], default=0) or 1
        first_share, second_share = (None if math.isnan(value) else value / top for value in values)
        shown = (_shown(one.first, one.metric.unit), _shown(one.second, one.metric.unit))
        gap = _gap(one.first, one.second, one.metric.unit)
        rows.append(Pair(_(one.metric.label), first_share, second_share, shown, gap, note=_(one.metric.definition)))
    headings = (_("metric"), f"A · {first}", f"B · {second}", "A − B")
    return paired_bars(rows, headings=headings, label=metrics_title())


def _shown(value: float, unit: str) -> str:
    """Format with one decimal, shares in percent."""
    return _tenths(value) if unit == "share" and not math.isnan(value) else number(value, unit)


def _tenths(share: float) -> str:
    """Format with one decimal, so that the difference shown matches the numbers shown."""
    digits = f"{100 * share:.1f}" if 0.0005 <= share < 0.9995 else share_digits(share)
    return translated(TEXTS)["percent"].format(number="< 0.1" if 0 < share < 0.0005 else digits)


def _gap(one: float, two: float, unit: str) -> str:
    """The signed difference of the numbers as shown; of two shares in percentage points."""
    if math.isnan(one - two):
        return "–"
    size = 100 if unit == "share" else 1
    gap = round(size * one, 1) - round(size * two, 1)
    sign = "+" if gap > 0.05 else "−" if gap < -0.05 else ""
    return sign + (_("{number} points").format(number=f"{abs(gap):.1f}") if unit == "share" else number(abs(gap), unit))


def show_next(opened: PageContext, other: PageContext) -> Predictions:
    """Show the likeliest tokens of each side with both probabilities. Raises NoLogits."""
    places = output_position(opened.capture, opened.query), output_position(other.capture, _query_of_b(opened, other))
    positions = [
        len(side.capture.tokens) - 1 if place is None else place
        for side, place in zip((opened, other), places, strict=True)
    ]
    keys = repr(opened.capture.request), repr(other.capture.request)
    words = vocabulary(opened.runner), vocabulary(other.runner)
    pair = cached.made(
        ("next pair", *keys, *positions),
        lambda: next_pair((opened.capture, other.capture), (positions[0], positions[1]), words, count=SHOWN),
    )
    found = Predictions(pair, places)
    show_finding(*_expected(pair))
    show_html(next_html(found, *names_of(opened, other, heads=False)), key="compare_next")
    same = other.capture is opened.capture
    words_of = _("Both sides are one model on one text. Choose another text or model for B.") if same else _about(found)
    st.html(f"<p class='atlas-caption'>{words_of}</p>")
    return found


def _expected(pair: NextPair) -> tuple[str, str]:
    """The likeliest token of each side; HTML."""
    sides = [max((value or 0.0, label) for value, label in zip(values, pair.labels, strict=True))
             for values in (pair.first, pair.second)]  # fmt: skip
    (one, first), (two, second) = sides
    tokens = [f"<bdi>{escape(bare(label))}</bdi>" for label in (first, second)]
    if first == second:
        said = _("Both expect “{token}”").format(token=tokens[0])
    else:
        said = _("A expects “{first}”, B “{second}”").format(first=tokens[0], second=tokens[1])
    return said, escape(f"A {_tenths(one)} · B {_tenths(two)}")


def _query_of_b(opened: PageContext, other: PageContext) -> int:
    """B's token with the same characters as the pinned one; if there is none, B's own selection."""
    if looks_ahead(other.capture) and opened.query is not None:
        key = ("pieces", repr(opened.capture.request), repr(other.capture.request))
        pieces = cached.made(key, lambda: aligned(*sides_of(opened.capture, other.capture)))
        run = next((piece.b for piece in pieces if piece.a is not None and opened.query in piece.a), None)
        if run is not None:
            return run[-1]
    return opening_query(other.capture)


def next_html(found: Predictions, first: str, second: str) -> str:
    """The table of both distributions."""
    rows = []
    for label, one, two in zip(found.pair.labels, found.pair.first, found.pair.second, strict=True):
        missing = _("not in its vocabulary")
        said = tuple(missing if value is None else _tenths(value) for value in (one, two))
        gap = "" if one is None or two is None else _gap(one, two, "share")
        rows.append(Pair(label, one, two, (said[0], said[1]), gap))
    names = [f"{side} · {output_name(place)} · " for side, place in zip("AB", found.places, strict=True)]
    headings = (_("token"), names[0] + first, names[1] + second, "A − B")
    return paired_bars(rows, headings=headings, label=_("What both predict"))


def _about(found: Predictions) -> str:
    if None in found.places and found.places != (None, None):
        return _("One side continues the text and the other fills a gap in it: the two questions differ.")
    if found.pair.kl is None:
        return _("Two vocabularies: tokens are matched by their spelling, so there is no KL.")
    return _("KL(A ‖ B) over the whole vocabulary: {kl} bits.").format(kl=significant(found.pair.kl, 3))


def vocabulary(runner: Runner) -> tuple[str, ...]:
    """Every token as displayed, by id; cached."""

    def read() -> tuple[str, ...]:
        found: list[str] = []
        while len(found) < runner.info.n_vocab:
            if found:  # a large vocabulary takes seconds, and the reader may leave
                frame_slots().status.progress(len(found) / runner.info.n_vocab, text=_("Reading the vocabulary …"))
            found += map(runner.token_text, range(len(found), min(len(found) + STEP, runner.info.n_vocab)))
        frame_slots().status.empty()
        return tuple(found)

    return cached.made(("vocabulary", runner.info.name, runner.info.revision), read)
