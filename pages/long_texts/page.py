"""Long texts: a head's map at any length, thumbnails of every head, and what attention does over many tokens."""

import streamlit as st

from pages.long_texts.beyond import choose_text
from pages.long_texts.every_head import show_curves, show_heads
from pages.long_texts.export import curves_view, heads_view, map_view, needle_view
from pages.long_texts.needle import show_needle
from pages.long_texts.place import placed
from pages.long_texts.reading import explain
from pages.long_texts.state import LongTextsState, state
from pages.long_texts.the_map import show_map
from ui.shared.export_bundle import show_export_menu
from ui.shared.head_views import sink_note
from ui.shell.model_strip import StripView
from ui.shell.page import open_page, show_badge, show_errors
from ui.state.controls import choose
from ui.wording.i18n import _

text = choose_text()
view = state().view
shows = StripView(("attention", "head") if view in ("heads", "needle") else ("head",))
opened = placed(open_page(strip=shows, instead=text))
show_badge(opened)
views = {"map": _("map"), "heads": _("every head"), "curves": _("curves"), "needle": _("needle")}
choose(LongTextsState, "view", view, views)


def draw() -> None:
    """Draw the open view with its tables and files. Raises RunnerError."""
    if view == "heads":
        show_export_menu(opened, heads_view(opened, show_heads(opened)))
    elif view == "curves":
        show_export_menu(opened, curves_view(opened, show_curves(opened)))
    elif view == "needle":
        found = show_needle(opened)
        if found is not None:
            show_export_menu(opened, needle_view(opened, found))
    else:
        show_export_menu(opened, map_view(opened, show_map(opened)))
    if view != "needle" and (words := sink_note(opened)):
        st.html(f"<p class='atlas-caption'>{words}</p>")


explain(opened, view)
show_errors(draw)
