"""Step by step: the computation of attention, on small editable numbers and on the model's own."""

from __future__ import annotations

import streamlit as st

from pages.steps.batch import batch_view, show_batch
from pages.steps.gradients import gradients_view, show_gradients
from pages.steps.length import length_view, show_length
from pages.steps.on_model import model_view, show_on_model
from pages.steps.others import others_view, show_others
from pages.steps.otherwise import show_otherwise
from pages.steps.packing import packing_view, show_packing
from pages.steps.reading import explain
from pages.steps.reading_net import reading_net_view, show_reading_net
from pages.steps.scale import scale_view, show_scale
from pages.steps.similarity import show_model_similarity, show_small_similarity, similarity_view
from pages.steps.small import show_small, small_view
from pages.steps.softmax import show_softmax, softmax_view
from pages.steps.state import Batch, StepsState, cover, covered, state
from pages.steps.vocabulary import show_vocabulary, vocabulary_view
from ui.shared.export_bundle import ExportBundle, show_export_menu
from ui.shell.fragment_first import draw_fragment_first, moved, rerun_fragment
from ui.shell.model_strip import StripView
from ui.shell.page import PageContext, open_page, settle, show_badge, show_errors, show_strip
from ui.state.controls import choose
from ui.wording.i18n import _

held = state()
view, of_model = held.view, held.source == "model" and held.view in ("steps", "similarity")
controls = st.container(key="steps_views", horizontal=True, vertical_alignment="center", gap="small")
strip, place = st.container(), st.container()  # below the selector of views, which stays in place without a token strip
with controls:
    choose(
        StepsState, "view", view,
        {"steps": _("the steps"), "scale": _("why √d"), "length": _("length"), "softmax": "softmax",
         "similarity": _("similarity"), "others": "RNN, CNN", "gradients": _("gradients"),
         "otherwise": _("seen otherwise"), "batch": _("batch, cache")},
    )  # fmt: skip  # a pair a view
    if view in ("steps", "similarity"):
        choose(StepsState, "source", held.source, {"small": _("small numbers"), "model": _("this model")})
    if view == "batch":
        kinds: dict[Batch, str] = {
            "padding": _("two texts, padded"), "cached": _("a step with a cache"), "packing": _("packing"),
        }  # fmt: skip  # its last comma
        choose(StepsState, "batch", held.batch, kinds)
    if view == "softmax":
        choose(
            StepsState, "softmax", held.softmax, {"row": _("one row, safely"), "vocabulary": _("a whole vocabulary")}
        )
    if view == "others":
        choose(StepsState, "others", held.others, {"costs": _("what they cost"), "reading": _("this text, read")})


def open_model() -> tuple[PageContext, int]:
    """Open the model's text; on failure the error is shown at the head of the page."""
    with strip:
        net = view == "others" and held.others == "reading"
        own = of_model or net or view in ("length", "otherwise")
        shows = StripView(("head",) if own else (), here=own, then=lambda: rerun_fragment("steps"))
        opened, query, _key = settle(open_page(two_texts=True, strip=shows))
        show_badge(opened)
        if of_model or net or view == "otherwise":
            show_strip(opened, then=lambda: rerun_fragment("steps"))
    return opened, query


def show_with_model() -> None:
    """Show a view of the model's own numbers, or of its text. Raises RunnerError."""
    opened, query = open_model()
    explain(held.view, of_model=of_model)

    def draw(alone: bool) -> list[ExportBundle]:
        here, at = settle(moved(opened))[:2] if alone else (opened, query)
        shown: list[ExportBundle | None] = []
        show_errors(lambda: shown.append(view_with_model(here, at)))
        return [one for one in shown if one is not None]

    with place:
        for shown in draw_fragment_first("steps", draw):
            show_export_menu(opened, shown, covered())


def view_with_model(opened: PageContext, query: int) -> ExportBundle | None:
    """Draw the view and return its export; None if a sentence is shown instead. Raises RunnerError."""
    if view == "length":
        return length_view(opened, show_length(opened))
    if view == "others" and held.others == "reading":
        net = show_reading_net(opened, query)
        return None if net is None else reading_net_view(opened, net)
    if view == "others":
        return others_view(show_others(opened))
    if view == "batch":
        return packing_view(show_packing(opened))
    if view == "softmax":
        return vocabulary_view(show_vocabulary(opened))
    if view == "otherwise":
        return show_otherwise(opened, query)
    if view == "similarity":
        return similarity_view(show_model_similarity(opened, query))
    return model_view(opened, show_on_model(opened, query))


def show_alone() -> ExportBundle:
    """Draw a view that needs no model."""
    if view == "scale":
        return scale_view(show_scale())
    if view == "gradients":
        return gradients_view(show_gradients())
    if view == "batch":
        return batch_view(show_batch())
    if view == "softmax":
        return softmax_view(show_softmax())
    return similarity_view(show_small_similarity()) if view == "similarity" else small_view(show_small())


def show_first() -> None:
    """Show the views that need no model first, before one is loaded, and if none can be."""
    with place:
        shown = show_alone()
    explain(held.view, of_model=of_model)
    opened, _query = open_model()
    show_export_menu(opened, shown, covered())


cover(False)
needs_model = (
    view in ("length", "others", "otherwise")
    or (view == "softmax" and held.softmax == "vocabulary")
    or (view == "batch" and held.batch == "packing")
)
show_errors(show_with_model if of_model or needs_model else show_first)
