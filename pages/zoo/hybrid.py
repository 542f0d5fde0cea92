"""The hybrid view of the page Zoo: a stack in which only some layers keep softmax, and its recall."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from weakref import ref

import streamlit as st

from analysis.comparison import NextTokenChange
from analysis.hybrid import attending, code, lower_half, seven_to_one, stack
from analysis.long_text import chapter
from analysis.mask_effect import looks_ahead
from jobs.zoo_recall import CHARACTERS, DEPTHS, Recall, RecallPoint
from model_runner import Capture
from model_runner.substitution import Substituted
from pages.zoo.in_model import show_effect
from pages.zoo.state import BY_NAME, ZooState, show_sliders, state, values_of
from ui.shared.finding import show_finding
from ui.shared.what_if import output_finding
from ui.shell.components import show_heading
from ui.shell.page import PageContext, edited
from ui.shell.progressive import progressive, show_chart, show_progress
from ui.state import session
from ui.state.controls import choose, pick
from ui.state.edit_list import show_everywhere
from ui.state.kept_click import button
from ui.state.page_state import change, tell
from ui.wording.i18n import _, language
from viz.chart import Line, Lines
from viz.markdown import plain


@dataclass(frozen=True, eq=False)
class Hybrid:
    """``curve`` and ``own`` are the points so far, for the shares of softmax and for the stack chosen by hand."""

    edits: tuple[Substituted, ...]
    after: Capture
    softmax: tuple[int, ...]
    block: int  # block size in tokens of the softmax that is kept; 0: whole text
    change: NextTokenChange | None
    curve: tuple[RecallPoint, ...]
    own: tuple[RecallPoint, ...]


def show_hybrid(opened: PageContext) -> Hybrid:
    """Show the stack, the model's output with it, and its recall. Raises RunnerError."""
    layers, variant, n_tokens = attending(opened.capture), state().first, len(opened.capture.tokens)
    softmax = _chosen(layers)
    with st.container(key="zoo_hybrid_controls", horizontal=True, vertical_alignment="center", gap="small"):
        pick(ZooState, "variant", variant.name, {one.name: _(one.label) for one in BY_NAME.values()}, width=290)
        button(
            "7 : 1",
            key="zoo_seven",
            help=_("Seven layers of the variant for each softmax layer, as in MiniMax-01."),
            on_click=change,
            args=(ZooState,),
            kwargs={"softmax": None, "kept": "whole"},
        )
        button(
            "TransNormer",
            key="zoo_transnormer",
            help=_("Softmax inside blocks in the lower half of the layers, normalised linear attention in the upper "
                   "one, as the paper stacks them."),
            on_click=change,
            args=(ZooState,),
            kwargs={"variant": "transnormer", "softmax": lower_half(layers), "kept": "blocks"},
        )  # fmt: skip
        choose(ZooState, "kept", state().kept, {"whole": _("softmax whole"), "blocks": _("softmax in blocks")})
        block = values_of(BY_NAME["blocks"], n_tokens)["size"] if state().kept == "blocks" else 0
        words = _("{count} of {total} layers keep softmax, {variant} in the others; a click on a layer changes it.")
        if block:
            words = _("{count} of {total} layers have softmax inside blocks of {size} tokens, {variant} in the others; "
                      "a click on a layer changes it.")  # fmt: skip
        words = words.format(count=len(softmax), total=len(layers), variant=_(variant.label), size=block)
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")
    _show_stack(opened.capture, softmax)
    finding = st.container()  # filled once the model has answered
    left, right = st.columns([0.64, 0.36], gap="medium")
    with left:
        values = values_of(variant, n_tokens)
        with st.container(key="zoo_hybrid_sliders", gap=None):
            show_sliders(variant, variant.parameters, values, n_tokens)
            if block and variant.name != "blocks":
                show_sliders(BY_NAME["blocks"], BY_NAME["blocks"].parameters, {"size": block}, n_tokens)
    edits = stack(variant.name, values, layers, softmax, block)
    after = edited(opened, edits) if edits else opened.capture
    if then := output_finding(opened, after):
        with finding:
            words = _("{next_token} with {count} of {total} layers of softmax")
            show_finding(words.format(count=len(softmax), total=len(layers), next_token=then), of_several=True)
    with left:
        runs = _show_recall(opened, (variant.name, values, block), layers, softmax)
    with right:
        moved, _perplexities = show_effect(opened, after)
        show_everywhere(edits)
    curve, own = ((), ()) if runs is None else (tuple(one.points()) for one in runs)
    return Hybrid(edits, after, softmax, block, moved, curve, own)


def _chosen(layers: tuple[int, ...]) -> tuple[int, ...]:
    """The layers that keep softmax: the URL's, as far as they exist, or one of eight."""
    wanted = state().softmax
    if wanted is None:
        return seven_to_one(layers)
    if missing := [one for one in wanted if one not in layers]:
        found = tuple(one for one in wanted if one in layers)
        change(ZooState, softmax=found)
        words = _("Layers that have no softmax attention, or that this model does not have, were left out: {numbers}.")
        tell(ZooState, words.format(numbers=", ".join(map(str, missing))))
        return found
    return tuple(sorted(set(wanted)))


def _show_stack(capture: Capture, softmax: tuple[int, ...]) -> None:
    """Show a button per layer, in order of depth, filled where it keeps softmax."""
    with st.container(key="zoo_stack", horizontal=True, gap="small"):
        for layer in range(capture.n_layers):
            kept = layer in softmax
            other = tuple(one for one in softmax if one != layer) if kept else tuple(sorted((*softmax, layer)))
            button(
                f"L{layer}",
                key=f"zoo_layer_{layer}",
                type="primary" if kept else "secondary",
                disabled=not capture.has_weights(layer),
                help=_("keeps softmax") if kept else _(state().first.label),
                on_click=change,
                args=(ZooState,),
                kwargs={"softmax": other},
            )


def _show_recall(
    opened: PageContext, substitute: tuple[str, dict[str, int], int], layers: tuple[int, ...], softmax: tuple[int, ...]
) -> tuple[Recall, Recall] | None:
    """Show the curve as it grows and the stack chosen by hand; nothing for a bidirectional model."""
    if looks_ahead(opened.capture):
        st.info(_("No needle: this model sees the tokens that it has to predict."))
        return None
    if (variant := state().first).mask == "none" or variant.fitted:
        words = _(
            "No needle: {variant} is computed from the whole text, including the tokens that the model has to predict."
        )
        st.info(plain(words.format(variant=_(variant.label))))
        return None
    request = opened.capture.request
    asked = (ref(opened.runner), request.model, request.revision, request.dtype, repr(substitute), language())

    def recall(name: str, kept: tuple[int, ...] | None) -> Recall:
        texts = code(language()), chapter(language()).half
        return session.jobs().get(
            name,
            (*asked, kept),
            lambda own: Recall(opened.runner, request, *texts, substitute, layers, kept, own),
        )

    curve, own = recall("zoo_recall", None), recall("zoo_recall_own", softmax)
    progressive(own, lambda: _draw_own(own))
    if not own.too_long:
        progressive(curve, lambda: _draw(curve, own))
    return curve, own


def _draw_own(own: Recall) -> None:
    if own.running or (len(own.items) < len(own.steps) and not own.too_long):
        show_progress(own, len(own.steps), _("the stack above: {done} of {total} forwards"), key="zoo_recall_own")


def _draw(run: Recall, own: Recall) -> None:
    show_progress(run, len(run.steps), _("{done} of {total} forwards"), key="zoo_recall")
    chart = recall_chart(tuple(run.points()), tuple(own.points()))
    show_heading(escape(chart.heading))
    show_chart(chart, key="zoo_recall_chart", alt=chart.heading, still=not run.running)
    words = _(
        "“{question}{answer}” is hidden at two places in {count} characters of a chapter, at "
        "{depths} depths in turn. At the end the model predicts each token of it, with the right "
        "tokens before it given."
    ).format(question=code(language()).question, answer=code(language()).answer, count=CHARACTERS, depths=len(DEPTHS))
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")


def recall_chart(curve: tuple[RecallPoint, ...], own: tuple[RecallPoint, ...]) -> Lines:
    """Both numbers over the share of layers that keep softmax, equally spaced; the chosen stack as separate points."""

    def line(points: tuple[RecallPoint, ...], name: str, number: str, dash: str = "solid") -> Line:
        values = [getattr(point, number) for point in points]
        return Line(name, [point.kept for point in points], values, dash=dash, points=True)

    series = [line(curve, _("tokens right"), "share"), line(curve, _("their mean probability"), "probability", "dash")]
    series += [line(own, _("the stack above: tokens right"), "share")] if own else []
    return Lines(
        series=series,
        x_title=_("share of layers that keep softmax"),
        y_title=_("share"),
        heading=_("Does the model recall the code?"),
        x_range=(-0.03, 1.03),
        height=320,
    )
