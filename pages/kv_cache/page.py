"""KV cache: the race with and without it, its size in bytes, and the effect of evicting from it."""

from dataclasses import replace

import streamlit as st

from analysis.joined import apart
from model_runner.errors import NotSeparable
from pages.kv_cache.race import ask_race, prompt_of_book, show_race
from pages.kv_cache.reading import explain
from pages.kv_cache.sizes import show_sizes, sizes
from pages.kv_cache.state import KvCacheState, state
from pages.kv_cache.what_if import ask, show_what_if
from ui.shared.export_bundle import show_export_menu
from ui.shell.model_strip import StripView
from ui.shell.page import open_page, show_badge, show_errors, show_strip
from ui.state.controls import choose
from ui.wording.i18n import _

N_ = str  # marks a text for Babel without translating it here

FIXED = N_("the cross-attention cache is of the source, and every step reads all of it")

shows = StripView(("attention", "loop"), here=False, edits=state().view == "what_if")
page_of_book = prompt_of_book() if state().view == "race" else None
opened = open_page(plain_model=True, two_texts=True, strip=shows, instead=page_of_book)
show_badge(opened)
with st.container(key="kv_view", horizontal=True, vertical_alignment="center", gap="small"):
    name = state().view
    choose(
        KvCacheState,
        "view",
        name,
        {"race": _("The race"), "bytes": _("Its bytes"), "what_if": _("What if it forgets")},
    )
    controls = st.container(key="kv_slot", horizontal=True, vertical_alignment="center", gap="small")
if page_of_book is None:  # below the selector of views, which stays in place without it
    show_strip(opened)


def draw() -> None:
    """Draw the open view with its tables and files. Raises RunnerError."""
    own = replace(opened, capture=apart(opened.capture))
    if name == "race":
        if own.capture.source is None:
            sizes(own)  # models without a cache have no race
        with controls:
            run = ask_race(own)
        show_export_menu(own, show_race(own, run))
    elif name == "bytes":
        show_export_menu(own, show_sizes(own, sizes(own)))
    else:
        held = sizes(own)
        if own.capture.source is not None:
            raise NotSeparable(reason=FIXED)
        with controls:
            trial = ask(own)
        show_export_menu(own, show_what_if(own, held, trial))


show_errors(draw)
explain(name, across=apart(opened.capture).source is not None)
