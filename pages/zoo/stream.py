"""A number that a variant computes for every token as the text is read: a chart, and how far it is read."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import streamlit as st

from analysis.zoo import whole_head
from attention.zoo.variant import Variant
from pages.zoo.state import ZooState, state
from ui.shared import cached
from ui.shell.page import PageContext
from ui.shell.progressive import show_chart
from ui.state.controls import slider
from ui.wording.i18n import _
from viz.chart import Line, Lines

TOLD = 24  # tokens whose number is listed


def show_stream(opened: PageContext, variant: Variant, values: Mapping[str, int], key: str) -> None:
    """Show the chart of the whole text with a mark at the current token, and the largest numbers up to it."""
    if variant.by_token is None:
        return
    capture, tokens = opened.capture, opened.capture.tokens
    by_token, numbers = variant.by_token, variant.numbers(values, len(tokens))
    told = cached.made(
        ("by token", repr(capture.request), opened.layer, opened.head, variant.name, tuple(numbers.items())),
        lambda: by_token(whole_head(capture, opened.layer, opened.head), **numbers).tolist(),
    )
    last = len(told) - 1
    at = min(state().read, last)
    if last and key == "first":  # one for both variants side by side
        slider(ZooState, "read", at, (0, last), _("read up to token"))
    words = f"{tokens[at].text} ({at}) {told[at]:.2f}"
    chart = Lines(
        series=[Line(_("surprise"), range(len(told)), told, points=last < 64)], x_title=_("tokens"),
        y_title=_("surprise"), marker=(at, words), height=200, heading=_(variant.by_token_as),
    )  # fmt: skip  # one chart
    show_chart(chart, key=f"zoo_stream_{key}", alt=chart.heading, still=True)
    places = sorted(sorted(range(at + 1), key=lambda place: -told[place])[:TOLD])
    most = " · ".join(f"{escape(tokens[place].text)}\u00a0{told[place]:.2f}" for place in places)
    st.html(f"<p class='atlas-caption'><b>{escape(_(variant.by_token_as))}</b> {most}</p>")
