"""A recurrent network reading the sentence, one token per step, beside attention's single step."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.joined import Joined
from analysis.number_text import figure_number
from attention.sentence_rnn import SentenceReading, read_sentence
from pages.steps.chains import show_charts
from pages.steps.state import StepsState, state
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding, token_name
from ui.shell.components import show_heading, show_html
from ui.shell.page import PageContext
from ui.state.controls import pick
from ui.state.url_values import options_of
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.curves import standalone
from viz.markdown import plain
from viz.streams_svg import Columns, DrawnLink, columns_html

MOST = 12  # tokens, of which the last is the chosen one
FLOOR = 1e-12  # lower end of a logarithmic axis


@dataclass(frozen=True, eq=False)
class ReadingNet:
    """What is drawn: the tokens from ``first`` to ``query``, the network's reach, and the open head's weights."""

    reading: SentenceReading
    weights: np.ndarray
    tokens: list[str]
    first: int
    query: int
    gain: float
    chart: Lines


def show_reading_net(opened: PageContext, query: int) -> ReadingNet | None:
    """Show both pictures, then how much of each token arrives; None for two combined texts. Raises RunnerError."""
    if isinstance(opened.capture, Joined):
        words = _("Two texts are drawn as one here, and a recurrent net reads one: choose a model of one text.")
        st.info(plain(words))
        return None
    capture, layer, head = opened.capture, opened.layer, opened.head
    gain = float(state().gain)
    words = _("weights times {factor}")
    gains = {one: words.format(factor=one) for one in options_of(StepsState, "gain")}
    pick(StepsState, "gain", state().gain, gains, width=190)
    first = max(0, query + 1 - MOST)
    reading = read_sentence(capture.residual(0)[first : query + 1].cpu(), gain)
    weights = capture.weights(layer, head, queries=slice(query, query + 1), shares=True)[0, first : query + 1]
    tokens = [capture.tokens[place].text for place in range(first, query + 1)]
    shares = weights.double().cpu().numpy()
    _say(opened, reading, shares, first, query)
    left, right = st.columns(2, gap="medium")
    with left:
        show_heading(escape(_("Recurrent net: {count} steps").format(count=len(tokens))))
        show_html(columns_html(_net(tokens), _("one token a step, each state made from the one before")), key="net")
    with right:
        name = f"L{layer}H{head}"
        show_heading(escape(_("Attention: 1 step")), escape(name))
        show_html(columns_html(_attention(tokens, shares), _("every token is read at once")), key="net_attention")
    chart = _chart(reading, shares, f"L{layer}H{head}")
    show_charts((chart,), "steps_net")
    return ReadingNet(reading, shares, tokens, first, query, gain, chart)


def _say(opened: PageContext, reading: SentenceReading, shares: np.ndarray, first: int, query: int) -> None:
    said = _("{first} is {steps} steps from {last} in a recurrent net, 1 in attention")
    names = {"first": token_name(opened.capture, first), "last": token_name(opened.capture, query)}
    words = _("{net} of a change there arrives through the net, {weight} by the head’s weight; the net is random")
    beside = words.format(net=figure_number(float(reading.reach[0])), weight=figure_number(float(shares[0])))
    show_finding(said.format(**names, steps=query - first), escape(beside), of_several=True)


def _net(tokens: list[str]) -> Columns:
    """One row per step: the state, made from its token and the previous state."""
    count = len(tokens)
    lit = [[not row or row - 1 == place for place in range(count)] for row in range(count + 1)]
    links = [DrawnLink(row, row - 1, row, 0.4, lit=True) for row in range(1, count)]
    rows = [_("tokens"), *(_("step {step}").format(step=row + 1) for row in range(count))]
    return Columns(tokens, rows, lit, links, "", sparse=True)


def _attention(tokens: list[str], shares: np.ndarray) -> Columns:
    """Two rows: the tokens, and the last token's weighted sum of them."""
    last = len(tokens) - 1
    lit = [[True] * len(tokens), [place == last for place in range(len(tokens))]]
    links = [DrawnLink(0, place, last, float(share), lit=True) for place, share in enumerate(shares)]
    return Columns(tokens, [_("tokens"), _("step {step}").format(step=1)], lit, links, "", sparse=True)


def _chart(reading: SentenceReading, shares: np.ndarray, head: str) -> Lines:
    back = [float(len(shares) - 1 - place) for place in range(len(shares))][::-1]
    return Lines(
        series=[
            Line(_("recurrent net: ‖∂h_T/∂h_t‖"), back, reading.reach.flip(0).clamp(min=FLOOR).tolist(), points=True),
            Line(_("attention, {head}: the weight").format(head=head), back, np.maximum(shares[::-1], FLOOR).tolist(),
                 points=True),
        ],
        x_title=_("tokens back"),
        y_title=_("gradient that arrives there"),
        log_y=True,
        height=330,
        heading=_("The gradient from the last token to each earlier one of this text"),
    )  # fmt: skip  # a series in two lines


def reading_net_view(opened: PageContext, found: ReadingNet) -> ExportBundle:
    """Both lines, and the network's states."""
    names = [f"{found.first + place} {text}" for place, text in enumerate(found.tokens)]
    columns = dict(
        zip([line.name for line in found.chart.series], (found.reading.reach.numpy(), found.weights), strict=True)
    )
    return ExportBundle(
        name=f"recurrent-net-{found.query}",
        title=_("A recurrent net beside attention"),
        what=f"a random recurrent net (weights times {found.gain:g}) over the embeddings of this text, and the weights "
        f"of the head at query {found.query}",
        tables=lambda: {found.chart.heading: pd.DataFrame(columns, index=names)},
        page=lambda title, words, lang: standalone((found.chart,), title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg((found.chart,), title=title, caption=words),
        arrays={"states": found.reading.states.numpy(), "reach": found.reading.reach.numpy(), "weights": found.weights},
        code="\nfrom attention_atlas.attention.sentence_rnn import read_sentence\n\n"
        f"reading = read_sentence(capture.residual(0)[{found.first} : {found.query + 1}], {found.gain!r})\n"
        f"weights = capture.weights({opened.layer}, {opened.head})[{found.query}, {found.first} : {found.query + 1}]",
    )
