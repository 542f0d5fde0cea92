"""Learning: the target at each token of this text, and what one training step would change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from html import escape

import numpy as np
import streamlit as st

from analysis.joined import decoder_side, first_query
from analysis.mask_effect import looks_ahead
from analysis.number_text import error_size
from analysis.sentences import joined
from analysis.teacher_forcing import end_of
from model_runner import Capture
from model_runner.block_questions import Learned, TrainingStep
from pages.block.state import RATES, BlockState, state
from ui.shared.finding import show_finding
from ui.shell.components import mount, show_heading
from ui.shell.page import PageContext, asked, translated
from ui.shell.progressive import show_chart
from ui.state import session
from ui.state.controls import choose
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.components.layer_head_map import layer_head_map
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

FORCED_TEXTS = layer_head_map.TEXTS | {
    "rows": N_("input, target and prediction"),
    "columns": N_("positions"),
    "cell": N_("{column_index} · {row}: {word} · {value} nats"),
    "missing": N_("{column_index} · {row}: {word}"),
}
GRADIENT_TEXTS = layer_head_map.TEXTS | {"cell": N_("{row}{column} · norm {value}")}


@dataclass(frozen=True, eq=False)
class LearningView:
    """What is drawn: the step, the learning rate shown, the words and the pictures."""

    learned: Learned
    rate: int  # index among the learning rates
    words: tuple[tuple[str, ...], ...]
    payload: bytes
    charts: tuple[Lines, ...]
    two_texts: bool
    first: int  # the page's number of the first token


def show_learning(opened: PageContext) -> LearningView | None:
    """Show teacher forcing and the step; None, with a sentence, if there is nothing to show. Raises RunnerError.

    For an encoder-decoder model, the loss is that of the decoder's text, and the gradients are those of the selected
    attention.
    """
    capture = decoder_side(opened.capture)
    if looks_ahead(capture):
        st.info(plain(_("This model sees the tokens that it would have to predict: it does not learn in this way.")))
        return None
    held = state().rate
    learned = asked(opened, TrainingStep(opened.capture.request, tuple(map(float, RATES))))
    place = RATES.index(held)
    with st.container(key="block_controls", horizontal=True, vertical_alignment="center", gap="small"):
        choose(BlockState, "rate", held, {rate: rate for rate in RATES})
        said = _("Learning rate.")
        if capture.attentions and capture.request.target is None:
            said = joined(said, _("It wrote this text by itself and finds it likely already: type another one above."))
        st.html(f"<p class='atlas-caption'>{escape(said)}</p>", width="stretch")
    show_finding(*_finding(learned, place), of_several=True)
    shown = tuple(map(tuple, _words(opened, capture, len(learned.before))))
    first, reads = first_query(opened.capture), opened.capture.request.attention == "encoder"
    query = None if opened.query is None or reads else opened.query - first
    payload = forced_payload(learned, place, shown, query, first)
    mount(layer_head_map.SOURCE, payload, key="forced_map", on={} if reads else {"head": partial(_open, first)})
    charts = (rate_chart(learned), layer_chart(learned))
    columns = st.columns(3 if learned.heads.isfinite().any() else 2, gap="medium")
    for column, chart, key in zip(columns, charts, ("rates", "layers"), strict=False):
        with column:
            show_heading(escape(chart.heading))
            show_chart(chart, key=f"learning_{key}", alt=chart.heading, still=True)
    if len(columns) > 2:
        with columns[2]:
            heading = _("Norm of the gradient by head (of its part of W_O)")
            show_heading(escape(heading))
            mount(layer_head_map.SOURCE, heads_payload(opened, learned), key="gradient_map", on={"head": _open_head})
    return LearningView(learned, place, shown, payload, charts, bool(opened.capture.attentions), first)


def _words(opened: PageContext, capture: Capture, count: int) -> list[list[str]]:
    """Input, target and prediction at this many positions."""
    tokens = [token.text for token in capture.tokens]
    # an encoder-decoder also has to predict the end of the text
    end = end_of(capture) if count == len(tokens) else None
    ends = [] if end is None else [opened.runner.token_text(end)]
    said = [int(capture.logits(position).argmax()) for position in range(count)]
    return [tokens[:count], [*tokens[1:], *ends], [opened.runner.token_text(one) for one in said]]


def _finding(learned: Learned, place: int) -> tuple[str, str]:
    """The mean loss before and after the step, in the digits shown; HTML."""
    loss, after = float(learned.before.mean()), float(learned.after[place].mean())
    before_said, after_said = _nats(loss, 3), _nats(after, 3)
    if before_said == after_said:
        words = _("One step leaves the loss at {before} nats")
    elif after < loss:
        words = _("One step lowers the loss from {before} to {after} nats")
    else:
        words = _("One step raises the loss from {before} to {after} nats")
    beside = joined(_("Mean cross-entropy on this text, on a copy of the model."), grown_words(learned, place))
    return escape(words.format(before=before_said, after=after_said)), escape(beside)


def grown_words(learned: Learned, place: int) -> str:
    """Say that the mean loss decreases but that of some tokens grows, if so; otherwise empty."""
    before, after = learned.before.double(), learned.after[place].double()
    grown = int((after > before).sum())
    if not grown or float(after.mean()) >= float(before.mean()):
        return ""
    words = _("It is smaller on average and not at every token: it grew at {count} of {total}.")
    return words.format(count=grown, total=len(before))


def _nats(value: float, digits: int) -> str:
    """Format with this many digits, or one significant digit and its power of ten if smaller; rounded values below 0
    become 0.
    """
    return f"{value:.{digits}f}" if value >= 10**-digits else error_size(max(value, 0.0))


def forced_payload(
    learned: Learned, place: int, words: tuple[tuple[str, ...], ...], query: int | None, first: int = 0
) -> bytes:
    """Targets below the input, shifted by one and numbered from ``first`` on; the losses, as colours, below them."""
    before, after = (one.double().numpy() for one in (learned.before, learned.after[place]))
    none = np.full(len(before), np.nan)
    read, wanted, said = words
    losses = [_("loss before, nat"), _("loss after, nat")]
    return layer_head_map.LayerHeadMapPicture(
        np.stack([none, before, none, before, after]),
        title=_("cross-entropy at each position, in nats"),
        scale="sequential",
        low=0.0,
        high=float(max(before.max(), 1.0)),
        number="plain",
        open=None if query is None or query >= len(before) else (1, query),
        texts=translated(FORCED_TEXTS),
        row_labels=[_("it reads"), _("it must say"), _("it says"), *losses],
        column_labels=[str(first + place) for place in range(len(before))],
        first_column=first,
        words=[read, wanted, said, *([_nats(float(one), 2) for one in row] for row in (before, after))],
        max_height=260,
    ).packed()


def heads_payload(opened: PageContext, learned: Learned) -> bytes:
    """The gradient of each head's part of the output projection."""
    heads = learned.heads.double().numpy()
    return layer_head_map.LayerHeadMapPicture(
        heads,
        title=_("Norm of the gradient by head (of its part of W_O)"),
        scale="sequential",
        low=0.0,
        high=float(np.nanmax(heads)),
        number="plain",
        open=(opened.layer, opened.head),
        texts=translated(GRADIENT_TEXTS),
        max_height=230,
    ).packed()


def _open(first: int, cell: list[int] | None) -> None:
    if cell is not None:
        session.move(query=first + int(cell[1]), key=None)


def _open_head(cell: list[int] | None) -> None:
    if cell is not None:
        session.move(layer=int(cell[0]), head=int(cell[1]))


def rate_chart(learned: Learned) -> Lines:
    """The loss after one step, by learning rate."""
    losses = learned.after.double().mean(dim=1).tolist()
    before = float(learned.before.double().mean())
    return Lines(
        series=[Line(_("after one step"), list(learned.rates), losses, points=True)],
        x_title=_("learning rate"), y_title=_("mean cross-entropy, nats"), log_x=True, height=240,
        level=(before, _("before")), heading=_("One step, by its rate"),
    )  # fmt: skip


def layer_chart(learned: Learned) -> Lines:
    """The gradient's norm by layer."""
    norms = learned.layers.double().tolist()
    return Lines(
        series=[Line(_("norm of the gradient"), list(range(len(norms))), norms, points=True)],
        x_title=_("layer"), y_title=_("norm of the gradient"), height=240, heading=_("Norm of the gradient by layer"),
    )  # fmt: skip
