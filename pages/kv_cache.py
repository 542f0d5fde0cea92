"""KV cache: the race with it and without, the bytes it takes, and what changes when it forgets."""

from ui.frame import begin_with_frame

begin_with_frame()

import streamlit as st

from model_runner.errors import RunnerError
from ui import kv_export as export
from ui.i18n import _
from ui.inputs import choose
from ui.kv_race import ask_race, race_tables, show_race
from ui.kv_sizes import show_sizes, sizes, sizes_tables
from ui.kv_what_if import ask, show_what_if, what_if_tables
from ui.page import open_page, show_badge, show_reading, show_strip
from ui.tables import show_tables
from ui.wording import plain, sentence

opened = open_page(plain_model=True)
show_badge(opened)
show_strip(opened)
n_heads = opened.runner.info.n_heads
with st.container(key="kv_view", horizontal=True, vertical_alignment="center", gap="small"):
    views = {"race": _("The race"), "bytes": _("Its bytes"), "what_if": _("What if it forgets")}
    view = choose(_("View"), "kv", views)
    controls = st.container(key="kv_slot", horizontal=True, vertical_alignment="center", gap="small")
try:
    held = sizes(opened)
    if view == "race":
        with controls:
            run = ask_race(opened)
        show_race(opened, run)
        show_tables(lambda: race_tables(run))
        export.take_race_away(opened, run, race_tables(run))
    elif view == "bytes":
        show_sizes(opened, held)
        show_tables(lambda: sizes_tables(held, n_heads))
        export.take_sizes_away(opened, held, sizes_tables(held, n_heads))
    else:
        with controls:
            question = ask(opened)
        curve = show_what_if(opened, held, question)
        show_tables(lambda: what_if_tables(opened, curve))
        export.take_what_if_away(opened, curve, question, what_if_tables(opened, curve))
except RunnerError as error:
    st.warning(plain(sentence(error)))

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
