"""The residual stream: its norm, and what attention and FFN add in each layer."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.number_text import three_digits
from analysis.stream_growth import Growth, cosines, growth
from model_runner.block_questions import Additions, StreamAdditions
from pages.block.state import BlockState, Tokens, state
from pages.block.which_text import one_text
from ui.shared.finding import show_finding
from ui.shell.components import mount, show_heading
from ui.shell.page import PageContext, asked, translated
from ui.shell.progressive import show_chart
from ui.state.controls import choose
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.components.model_stages import model_stages
from viz.components.model_stages.model_stages import StageRow

N_ = str  # marks a text for Babel without translating it here

PARTS = {
    "attention": N_("attention"), "cross": N_("cross-attention"), "mixer": N_("mixer"),
    "ffn": N_("FFN"), "norm": N_("what norms change"),
    "scale": N_("what a factor changes"), "layer": N_("the whole layer"), "embedding": N_("embedding"),
    "between": N_("between two runs of layers"),
}  # fmt: skip
WRITERS = ("attention", "cross", "mixer", "ffn", "layer")  # parts of a layer that write into the stream


@dataclass(frozen=True, eq=False)
class StreamView:
    """What is drawn: every addition, the norms, and the strips of one token."""

    found: Additions
    lengths: Growth
    position: int
    charts: tuple[Lines, ...]
    payload: bytes
    number: int  # the token's number on the page


def show_stream(opened: PageContext) -> StreamView:
    """Show two charts, and every vector that is added to one token. Raises RunnerError."""
    opened = one_text(opened)
    position = len(opened.capture.tokens) - 1 if opened.query is None else opened.query
    found = asked(opened, StreamAdditions(opened.capture.request, position))
    tokens = state().tokens
    with st.container(key="block_controls", horizontal=True, vertical_alignment="center", gap="small"):
        words: dict[Tokens, str] = {"one": _("the chosen token"), "all": _("mean over all tokens")}
        choose(BlockState, "tokens", tokens, words)
        said = _("Norms of vectors. The strips below add up, from the embedding to what leaves the last layer.")
        st.html(f"<p class='atlas-caption'>{escape(said)}</p>", width="stretch")
    lengths = growth(found, position if tokens == "one" else None)
    if (said := _finding(lengths)) is not None:
        show_finding(*said, of_several=True)
    charts = (stream_chart(lengths), added_chart(lengths))
    for place, (chart, key) in zip(
        st.columns(2, gap="medium"), zip(charts, ("grown", "added"), strict=True), strict=True
    ):
        with place:
            show_heading(escape(chart.heading))
            show_chart(chart, key=f"stream_{key}", alt=chart.heading, still=True)
    payload = strips(opened, found, position)
    mount(model_stages.SOURCE, payload, key="stream_strips", on={})
    return StreamView(found, lengths, position, charts, payload, opened.first + position)


def _finding(lengths: Growth) -> tuple[str, str] | None:
    """The longest vector that a part of a layer adds; HTML. None if no layer adds any."""
    largest = [
        (float(np.nanmax(values)), int(np.nanargmax(values)), kind)
        for kind, values in lengths.added.items()
        if kind in WRITERS and not np.isnan(values).all()
    ]
    if not largest:
        return None
    norm, layer, kind = max(largest)
    said = _("L{layer}’s {part} adds most").format(layer=layer, part=_(PARTS[kind]))
    words = _("norm {norm}; the stream leaves the last layer with {end}")
    end = three_digits(float(lengths.streams[-1]))
    return escape(said), escape(words.format(norm=three_digits(norm), end=end))


def stream_chart(lengths: Growth) -> Lines:
    """The stream before the first layer and after each."""
    rows = list(range(len(lengths.streams)))
    series = [Line(_("residual stream"), rows, lengths.streams.tolist(), points=True)]
    return Lines(
        series=series, x_title=_("layers gone through"), y_title=_("norm ‖x‖"), height=290,
        heading=_("The norm of the stream"),
    )  # fmt: skip


def added_chart(lengths: Growth) -> Lines:
    """What each kind of part adds, by layer."""
    series = [
        Line(_(PARTS[kind]), list(range(len(values))), values.tolist(), points=True, dash=dash)
        for (kind, values), dash in zip(lengths.added.items(), ("solid", "dash", "dot", "dashdot") * 2, strict=False)
    ]
    return Lines(
        series=series, x_title=_("layer"), y_title=_("norm ‖x‖"), height=290, heading=_("What each part adds"),
    )  # fmt: skip


def strips(opened: PageContext, found: Additions, position: int) -> bytes:
    """Every addition to one token as a strip, with its norm and its direction relative to the stream so far."""
    vectors = found.vectors.double().numpy()
    turned = cosines(vectors, range(len(vectors)))
    rows = [
        row_of(found, place, float(turned[place]), float(np.linalg.norm(vectors[place])))
        for place in range(len(vectors))
    ]
    token = opened.capture.tokens[position].text
    columns = [
        _("added by · module"), _("cosine with the stream so far"), "",
        _("what is added to {token} ({position})").format(token=token, position=opened.first + position),
    ]  # fmt: skip
    return model_stages.ModelStagesPicture(
        rows, vectors, columns=columns, texts=translated(model_stages.TEXTS), max_height=660
    ).packed()


def row_of(found: Additions, place: int, cosine: float, length: float) -> StageRow:
    step = found.steps[place]
    name = _(PARTS[step.part])
    title = name if step.layer is None else f"L{step.layer} {name}"
    words = "" if np.isnan(cosine) else f"{cosine:+.2f}".replace("-", "−")
    kind = "norm" if step.part == "norm" else "stage" if step.layer is None else "sum"
    return StageRow(kind, title, step.module, words, length=three_digits(length))


def labels_of(found: Additions) -> list[str]:
    """Names of the steps for tables."""
    return [
        f"{i} {'embedding' if one.layer is None else f'L{one.layer} {one.part}'}" for i, one in enumerate(found.steps)
    ]
