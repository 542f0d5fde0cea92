"""KV cache: the race with it and without, the bytes it takes, and what changes when it forgets."""

import streamlit as st

from pages.kv_cache.race import ask_race, show_race
from pages.kv_cache.sizes import show_sizes, sizes
from pages.kv_cache.state import KvCacheState, state
from pages.kv_cache.what_if import ask, show_what_if
from ui.controls import choose
from ui.i18n import _
from ui.page import guarded, open_page, show_badge, show_reading, show_strip
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
show_reading(
    [
        _("Each new token needs the keys and values of all tokens before it; the cache keeps them, once made."),
        _("With it a step costs one row of attention, without it the whole triangle; the tokens are the same."),
        _("The price is memory that grows with every token; sharing heads, windows and rounding make it smaller."),
    ],
    formula="bytes = 2 · layers · kv_heads · d_head · tokens · bytes per number\nKL(p ‖ q) = Σ p · (ln p − ln q)",
    source="Shazeer 2019, arXiv:1911.02150; Ainslie et al. 2023, arXiv:2305.13245; Xiao et al. 2023, arXiv:2309.17453",
    attempt=_("Ask what if it forgets: drop the very first token from the cache, then keep it as the only sink."),
)
