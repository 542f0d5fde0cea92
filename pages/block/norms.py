"""Norms: LayerNorm, RMSNorm and BatchNorm of the same vectors, and how the residual stream grows without them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.norms import NormEffect, normed, random_growth
from analysis.number_text import three_digits
from model_runner.block_questions import WhatItIsMadeOf
from pages.block.ffn import layer_of
from pages.block.which_text import one_text
from ui.shared.finding import show_finding
from ui.shell.components import mount, show_heading
from ui.shell.page import PageContext, asked, translated
from ui.shell.progressive import show_chart
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.components.model_stages import model_stages
from viz.components.model_stages.model_stages import StageRow

N_ = str  # marks a text for Babel without translating it here

RANDOM = {
    "pre": N_("random net, pre-norm"), "post": N_("random net, post-norm"), "none": N_("random net, no norm"),
}  # fmt: skip
DASHES = {"pre": "dash", "post": "dot", "none": "dashdot", "LayerNorm": "solid", "RMSNorm": "dash", "BatchNorm": "dot"}
MOST = 30.0  # end of the growth axis: without a norm it doubles every two layers


@dataclass(frozen=True, eq=False)
class NormsView:
    """What is drawn: the norms of one stream, growth by layer, and the strips of one token."""

    found: NormEffect
    growth: dict[str, np.ndarray]
    layer: int
    position: int
    first: int  # the page's number of the first token
    charts: tuple[Lines, ...]
    payload: bytes


def show_norms(opened: PageContext) -> NormsView:
    """Show the strips, the sizes of all tokens, and the growth. Raises RunnerError."""
    opened = one_text(opened)
    capture = opened.capture
    position = len(capture.tokens) - 1 if opened.query is None else opened.query
    layer = layer_of(opened)
    with st.container(key="block_controls", horizontal=True, vertical_alignment="center", gap="small"):
        own = sorted({part.note for block in asked(opened, WhatItIsMadeOf()).blocks for part in block.parts} - {""})
        words = _(
            "The stream that enters this layer, through three norms without gain and bias. This model uses {own}."
        )
        st.html(f"<p class='atlas-caption'>{escape(words.format(own=', '.join(own)))}</p>", width="stretch")
    found = normed(capture, layer, position)
    growth = {"": _own_growth(opened)} | random_growth(capture.n_layers)
    show_finding(*_finding(found, growth[""]), of_several=True)
    payload = strips(opened, found, position)
    mount(model_stages.SOURCE, payload, key="norm_strips", on={})
    charts = (growth_chart(growth), size_chart(found, opened.first), mean_chart(found, opened.first))
    for place, chart, key in zip(st.columns(3, gap="medium"), charts, ("growth", "sizes", "means"), strict=True):
        with place:
            show_heading(escape(chart.heading))
            show_chart(chart, key=f"norm_{key}", alt=chart.heading, still=True)
    return NormsView(found, growth, layer, position, opened.first, charts, payload)


def _finding(found: NormEffect, own: np.ndarray) -> tuple[str, str]:
    """How much the stream grows, and the size to which an RMSNorm scales every token; HTML."""
    sizes, after = found.sizes[""], found.sizes["RMSNorm"]
    said = _("After {count} layers the stream has {times} times its first norm")
    said = said.format(times=three_digits(float(own[-1])), count=len(own) - 1)
    words = _("RMS of the tokens here: {low} to {high} before RMSNorm, {after_low} to {after_high} after")
    ends = [three_digits(float(of)) for of in (sizes.min(), sizes.max(), after.min(), after.max())]
    names = ("low", "high", "after_low", "after_high")
    return escape(said), escape(words.format(**dict(zip(names, ends, strict=True))))


def _own_growth(opened: PageContext) -> np.ndarray:
    """This model's mean stream norm, relative to its start."""
    lengths = np.array([float(x.float().norm(dim=-1).mean()) for x in opened.capture.residuals])
    return lengths / lengths[0]


def strips(opened: PageContext, found: NormEffect, position: int) -> bytes:
    """One token's vector before and after each norm."""
    vectors = [found.before, *found.after.values()]
    kinds = ["", *found.after]
    rows = [
        StageRow(
            "norm" if kind else "stage",
            kind or _("before"),
            shapes=_words(found.means[kind][position], found.sizes[kind][position]),
            length=three_digits(float(np.linalg.norm(vector))),
        )
        for kind, vector in zip(kinds, vectors, strict=True)
    ]
    token = f"{opened.capture.tokens[position].text} ({opened.first + position})"
    columns = [_("norm"), _("of its numbers"), "", _("the vector of {token}").format(token=token)]
    return model_stages.ModelStagesPicture(
        rows, np.stack(vectors), columns=columns, texts=translated(model_stages.TEXTS)
    ).packed()


def _words(mean: float, size: float) -> str:
    mean = 0.0 if abs(mean) < 1e-9 * size else mean + 0.0  # clears the rounding error of a mean that was subtracted
    words = _("mean {mean} · RMS {size}").format(mean=three_digits(mean), size=three_digits(size))
    return words.replace("-", "−")


def growth_chart(growth: dict[str, np.ndarray]) -> Lines:
    """This model and random networks of equal depth."""
    series = [
        Line(_(RANDOM[kind]) if kind else _("this model"), list(range(len(values))),
             np.where(values > MOST, np.nan, values).tolist() if kind == "none" else values.tolist(),
             dash=DASHES.get(kind, "solid"), points=not kind)
        for kind, values in growth.items()
    ]  # fmt: skip  # one line of the chart
    return Lines(
        series=series, x_title=_("layers gone through"), y_title=_("times the first norm"), log_y=True, height=380,
        heading=_("How the stream grows"),
    )  # fmt: skip


def size_chart(found: NormEffect, first: int) -> Lines:
    """Root mean square of every token, before and after."""
    return _by_token(found.sizes, _("root mean square"), _("Size of every token"), first, log=True)


def mean_chart(found: NormEffect, first: int) -> Lines:
    """Mean of every token's vector after each norm; the mean before would dominate the scale."""
    after = {name: values for name, values in found.means.items() if name}
    return _by_token(after, _("mean"), _("Mean of every token"), first, log=False)


def _by_token(values: dict[str, np.ndarray], y_title: str, heading: str, first: int, *, log: bool) -> Lines:
    series = [
        Line(name or _("before"), list(range(first, first + len(one))), one.tolist(), points=True,
             dash=DASHES.get(name, "solid"), quiet=not name)
        for name, one in values.items()
    ]  # fmt: skip  # one line of the chart
    return Lines(series=series, x_title=_("position"), y_title=y_title, log_y=log, height=380, heading=heading)
