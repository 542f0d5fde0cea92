"""Sharing heads: which heads share keys and values, and what this model loses when more of them do."""

from html import escape

import streamlit as st

from pages.sharing.counts import show_counts
from pages.sharing.export import counts_view, model_view
from pages.sharing.on_model import show_on_model
from pages.sharing.reading import explain
from pages.sharing.state import SharingState, state
from ui.shared.export_bundle import show_export_menu
from ui.shell.model_strip import StripView
from ui.shell.page import open_page, show_badge, show_errors, show_strip
from ui.state.controls import choose
from ui.wording.i18n import _

view = state().view
opened = open_page(plain_model=True, strip=StripView(("attention",), here=view == "model", edits=view == "model"))
show_badge(opened)
show_strip(opened)
with st.container(key="sharing_view", horizontal=True, vertical_alignment="center", gap="small"):
    choose(SharingState, "view", view, {"model": _("on the model"), "counts": _("all numbers of heads")})
    words = _(
        "Substituted, not trained: where models are made this way, training follows and recovers most of the loss."
    )
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")


def draw() -> None:
    """Draw the open view with its tables and files. Raises RunnerError."""
    if view == "counts":
        counts = show_counts(opened)
        if counts is not None:
            show_export_menu(opened, counts_view(counts))
    else:
        found = show_on_model(opened)
        if found is not None:
            show_export_menu(opened, model_view(opened, found))


explain(opened, view)
show_errors(draw)
