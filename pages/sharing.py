"""Sharing heads: who shares keys and values, and what this model loses when more of its heads share them."""

from ui.frame import begin_with_frame

begin_with_frame()

from html import escape

import streamlit as st

from ui.i18n import _
from ui.inputs import choose
from ui.page import guarded, open_page, show_badge, show_reading, show_strip
from ui.sharing_counts import show_counts
from ui.sharing_export import counts_tables, model_tables, take_counts_away, take_model_away
from ui.sharing_model import show_on_model
from ui.tables import show_tables

opened = open_page(plain_model=True)
show_badge(opened)
show_strip(opened)
with st.container(key="sharing_view", horizontal=True, vertical_alignment="center", gap="small"):
    view = choose(_("View"), "sharing", {"model": _("on the model"), "counts": _("all numbers of heads")})
    words = _(
        "Substituted, not trained: where models are made this way, training follows and mends most of what is lost."
    )
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")


def draw() -> None:
    """The view that is open, with its tables and its files. Raises RunnerError."""
    if view == "counts":
        counts = show_counts(opened)
        if counts is not None:
            show_tables(lambda: counts_tables(counts))
            take_counts_away(opened, counts)
    else:
        found = show_on_model(opened)
        if found is not None:
            show_tables(lambda: model_tables(opened, found))
            take_model_away(opened, found)


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
