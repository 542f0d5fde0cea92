"""The view of the page Zoo with a variant in the running model: one head, its layer or all layers, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from weakref import ref

import streamlit as st

from analysis.comparison import NextTokenChange
from analysis.hybrid import attending
from analysis.joined import decoder_side
from analysis.mask_effect import looks_ahead, perplexity
from analysis.number_text import three_digits
from analysis.zoo import LARGEST
from jobs.greedy_pair import TOKENS, GreedyPair
from model_runner import Capture
from model_runner.edits import Edit
from model_runner.errors import NoLogits
from model_runner.substitution import LONGEST, Substituted
from pages.zoo.convolution import show_convolution
from pages.zoo.numbers import show_rule
from pages.zoo.parts import show_parts
from pages.zoo.state import BY_NAME, ZooState, show_sliders, state, values_of
from ui.shared.head_views import DrawnHead
from ui.shared.what_if import show_change, show_maps
from ui.shell.page import PageContext, edited
from ui.shell.progressive import progressive, show_progress
from ui.state import session
from ui.state.controls import choose, pick
from ui.state.edit_list import show_everywhere
from ui.wording.i18n import _


@dataclass(frozen=True, eq=False)
class InModel:
    """Before and after: ``perplexities`` is None if a token to be predicted is visible."""

    edits: tuple[Edit, ...]
    after: Capture
    drawn: tuple[DrawnHead, DrawnHead]  # before and after
    change: NextTokenChange | None
    perplexities: tuple[float, float] | None


def show_in_model(opened: PageContext) -> InModel:
    """Show the controls, the open head before and after, and the model's output. Raises RunnerError."""
    held, n_tokens = state(), len(opened.capture.tokens)
    with st.container(key="zoo_model_controls", horizontal=True, vertical_alignment="center", gap="small"):
        pick(ZooState, "variant", held.variant, {one.name: _(one.label) for one in BY_NAME.values()}, width=290)
        here = {"layer": opened.layer, "head": opened.head}
        wheres = {"head": _("in L{layer}H{head}"), "layer": _("in layer {layer}"), "all": _("in all layers")}
        choose(ZooState, "where", held.where, {name: words.format(**here) for name, words in wheres.items()})
    values = values_of(held.first, n_tokens)
    with st.container(key="zoo_model_sliders", gap=None):
        show_sliders(held.first, held.first.parameters, values, n_tokens)
    layers = None if held.where == "all" else (opened.layer,)
    heads = (opened.head,) if held.where == "head" else None
    edits = (Substituted(held.variant, tuple(values.items()), layers, heads),)
    after = edited(opened, edits)
    drawn = show_maps(opened, after)
    _show_left_out(opened, heads)
    left, right = st.columns(2, gap="large")
    with left:
        change, perplexities = show_effect(opened, after)
    with right:
        show_everywhere(edits)
        show_rule(held.first)
        if held.variant == "relu":
            show_convolution(opened, after)
        if len(after.tokens) <= LARGEST and after.has_weights(opened.layer):
            weights = after.weights(opened.layer, opened.head).cpu().double().numpy()
            show_parts(held.first, values, weights, key="model_parts")
    return InModel(edits, after, drawn, change, perplexities)


def _show_left_out(opened: PageContext, heads: tuple[int, ...] | None) -> None:
    """Say what was compared, and which of this head's properties the variant ignores."""
    compared = _(
        "For a substituted head this check compares its map times the values with what the variant made of them."
    )
    st.html(f"<p class='atlas-caption'>{escape(compared)}</p>")
    if state().where == "all" and opened.layer > min(attending(opened.capture), default=opened.layer):
        moved = _("Earlier layers are changed too, so this layer’s queries, keys and values differ.")
        st.html(f"<p class='atlas-caption'>{escape(moved)}</p>")
    if heads is None and opened.layer not in attending(opened.capture):
        return
    variant, head = state().first, opened.capture.record(opened.layer).as_head(opened.head)
    for words in variant.left_out(head):
        st.html(f"<p class='atlas-caption'>{escape(_(words).format(variant=_(variant.label)))}</p>")


def show_effect(opened: PageContext, after: Capture) -> tuple[NextTokenChange | None, tuple[float, float] | None]:
    """Show the next token, the perplexity and the continuation, before and after."""
    try:
        change = show_change(opened, after)
        perplexities = _show_perplexity(opened.capture, after)
    except NoLogits:
        return None, None
    if change.position is None:
        _show_pair(opened, after)
    return change, perplexities


def _show_perplexity(before: Capture, after: Capture) -> tuple[float, float] | None:
    """Perplexity of the whole text; None if a token to be predicted is visible."""
    if looks_ahead(before):
        words = _("Perplexity is undefined for bidirectional models.")
    elif looks_ahead(after):
        words = _("No perplexity: with this variant tokens see those that they would have to predict.")
    elif any(isinstance(edit, Substituted) and edit.row.fitted for edit in after.request.edits):
        words = _("No perplexity: this variant is fitted to the whole text, including the tokens to be predicted.")
    elif len(before.tokens) < 2:
        words = _("The text is one token long: there is nothing to predict.")
    else:
        found = perplexity(before), perplexity(after)
        words = _("Perplexity of the text: {before} before, {after} after.")
        words = words.format(before=three_digits(found[0]), after=three_digits(found[1]))
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
        return found
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    return None


def _show_pair(opened: PageContext, after: Capture) -> None:
    """Show the greedy continuation before and after, as it grows."""
    before = opened.capture.request
    key = (ref(opened.runner), before, after.request)
    count = min(TOKENS, _longest(opened) - len(decoder_side(opened.capture).tokens))
    pair: GreedyPair = session.jobs().get(
        "zoo_greedy", key, lambda name: GreedyPair(opened.runner, before, after.request, count, name)
    )
    progressive(pair, lambda: _draw_pair(opened, pair))


def _longest(opened: PageContext) -> int:
    """The longest continuation for which the model with substituted heads has room."""
    return min(opened.runner.info.room, LONGEST)


def _draw_pair(opened: PageContext, pair: GreedyPair) -> None:
    rows = [(_("before"), pair.of(0)), (_("after"), pair.of(1))]
    heading = _("Continues with the likeliest token each time")
    lines = "".join(
        f"<p class='atlas-caption'><b>{escape(name)}</b> <bdi>"
        f"{escape(''.join(opened.runner.token_text(one) for one in said))}</bdi></p>"
        for name, said in rows
    )
    st.html(f"<div class='atlas-head'><b>{escape(heading)}</b></div>{lines}")
    if pair.running or len(pair.items) < 2 * pair.count:
        show_progress(pair, 2 * pair.count, _("{done} of {total} forwards"), key="zoo_greedy")
    elif pair.count < TOKENS:
        limit = _longest(opened)
        words = _("Only {number} tokens fit after the text: heads can be substituted in texts of up to {limit}.")
        words = _(opened.runner.info.little_room) if limit == opened.runner.info.room else words
        st.html(f"<p class='atlas-caption'>{escape(words.format(number=pair.count, limit=limit))}</p>")
