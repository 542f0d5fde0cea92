"""KV cache: the race with it and without, the bytes it takes, and what changes when it forgets."""

import streamlit as st

from pages.kv_cache.race import ask_race, show_race
from pages.kv_cache.reading import explain
from pages.kv_cache.sizes import show_sizes, sizes
from pages.kv_cache.state import KvCacheState, state
from pages.kv_cache.what_if import ask, show_what_if
from ui.controls import choose
from ui.i18n import _
from ui.page import guarded, open_page, show_badge, show_strip
from ui.view import offer

opened = open_page(plain_model=True)
show_badge(opened)
show_strip(opened)
with st.container(key="kv_view", horizontal=True, vertical_alignment="center", gap="small"):
    name = state().view
    choose(
        KvCacheState,
        "view",
        name,
        {"race": _("The race"), "bytes": _("Its bytes"), "what_if": _("What if it forgets")},
    )
    controls = st.container(key="kv_slot", horizontal=True, vertical_alignment="center", gap="small")


def draw() -> None:
    """The view that is open, with its tables and its files. Raises RunnerError."""
    held = sizes(opened)
    if name == "race":
        with controls:
            run = ask_race(opened)
        offer(opened, show_race(opened, run))
    elif name == "bytes":
        offer(opened, show_sizes(opened, held))
    else:
        with controls:
            trial = ask(opened)
        offer(opened, show_what_if(opened, held, trial))


guarded(draw)
explain(name)
