"""Families: kinds of transformers by which tokens may attend to which, and one sentence through a model of each."""

from html import escape

import streamlit as st

from analysis.families import kind_of
from jobs.families import MODEL_OF
from pages.families.answers import show_answer, show_controls
from pages.families.cards import show_cards
from pages.families.export import kind_view
from pages.families.known import show_known
from pages.families.open_kind import context_of, show_open, show_own
from pages.families.reading import explain
from pages.families.readings import of_every_kind
from pages.families.state import FamiliesState, state
from ui.shared.export_bundle import show_export_menu
from ui.shell.model_strip import StripView, show_model_strip
from ui.shell.page import check_again, open_page, show_badge, show_errors
from ui.state import session
from ui.state.controls import choose
from ui.state.frame_slots import frame_slots
from ui.state.page_state import change
from ui.wording.i18n import _
from viz.markdown import plain

view = state().view
ELSEWHERE = StripView((), here=False)  # for the open model, when the page shows none of its heads
opened = open_page(plain_model=True, two_texts=True, strip=ELSEWHERE if view == "known" else None)
choose(FamiliesState, "view", view, {"kinds": _("the same text through all"), "known": _("well-known models")})


def draw() -> None:
    """Draw the kinds and the open one. Raises RunnerError."""
    own = "two" if opened.runner.info.attentions else kind_of(opened.capture)
    held = state().family
    chosen = own if held == "own" else held
    found = of_every_kind(opened)
    show_cards(opened, found, chosen, own)
    one, causal = found[chosen], found["causal"].read
    if opened.capture.request.sound is not None:
        words = _("The embedded models read the text “{text}”; the open one listens to the sound.")
        st.html(f"<p class='atlas-caption'>{escape(words.format(text=session.text()))}</p>")
    own_beside = own == chosen and session.model() not in MODEL_OF.values()
    if one.read is None:
        show_model_strip(opened.runner.info, opened.capture, (opened.layer, opened.head), ELSEWHERE, opened.runner)
        st.info(plain(one.problem))
        if own_beside:
            show_badge(opened)
            show_own(opened)
        return
    here = context_of(opened, one, one.read, causal)
    shows = StripView(pick=lambda layer, head: change(FamiliesState, head=(layer, head)))
    show_model_strip(one.read.info, here.capture, (here.layer, here.head), shows)
    with frame_slots().badge:
        check_again(here, st.empty())  # without the edit that makes a prefix model, as its card says
    widths = [0.34, 0.34, 0.32] if own_beside else [0.54, 0.46]
    *maps, right = st.columns(widths, gap="medium")
    with right:
        show_controls(chosen, one.read, own_two=bool(opened.runner.info.attentions))
    with maps[-1]:
        drawn = show_open(here, one, two_to_choose=chosen == "two" and not opened.runner.info.attentions)
    if own_beside:
        with maps[0]:
            show_own(opened)
    with right:  # after the maps, also on phones
        show_answer(chosen, one.read)
    show_export_menu(here, kind_view(drawn, one))


explain(view)
if view == "known":
    show_badge(opened)
    show_known()
else:
    show_errors(draw)
