"""Sharing heads: who shares keys and values, and what this model loses when more of its heads share them."""

from html import escape

import streamlit as st

from pages.sharing.counts import show_counts
from pages.sharing.export import counts_view, model_view
from pages.sharing.on_model import show_on_model
from pages.sharing.state import SharingState, state
from ui.controls import choose
from ui.i18n import _
from ui.page import guarded, open_page, show_badge, show_reading, show_strip
from ui.view import offer

opened = open_page(plain_model=True)
show_badge(opened)
show_strip(opened)
view = state().view
with st.container(key="sharing_view", horizontal=True, vertical_alignment="center", gap="small"):
    choose(SharingState, "view", view, {"model": _("on the model"), "counts": _("all numbers of heads")})
    words = _(
        "Substituted, not trained: where models are made this way, training follows and mends most of what is lost."
    )
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")


def draw() -> None:
    """The view that is open, with its tables and its files. Raises RunnerError."""
    if view == "counts":
        counts = show_counts(opened)
        if counts is not None:
            offer(opened, counts_view(counts))
    else:
        found = show_on_model(opened)
        if found is not None:
            offer(opened, model_view(opened, found))


show_reading(
    [
        _("Every query head asks for itself, but several can read the same keys and values: the cache gets smaller."),
        _("Each head its own is multi-head (MHA), one for all is multi-query (MQA), one a group grouped-query (GQA)."),
        _("Here neighbours share the mean of theirs, at once and in every layer; click a way to share, or a head."),
    ],
    formula="k_shared = mean of k over a group,  v_shared = mean of v\ncache = 2 · layers · kv_heads · d_head · tokens",
    source="Shazeer 2019, arXiv:1911.02150; Ainslie et al. 2023, arXiv:2305.13245",
    attempt=_("Average to a single key/value head: which layers drift most, and is the next token still the same?"),
)
guarded(draw)
