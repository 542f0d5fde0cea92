"""Compare: the app's selection, A, beside another head, text, model or tokenizer, B."""

import streamlit as st

from pages.compare.export import maps_view, matrices_view, metrics_view, next_view, tokens_view
from pages.compare.maps import show_maps
from pages.compare.matrices import show_matrices
from pages.compare.names import check_over_one_text
from pages.compare.numbers import show_metrics, show_next
from pages.compare.other import show_other
from pages.compare.reading import explain
from pages.compare.state import CompareState, state
from pages.compare.tokens import show_tokens
from ui.shared.export_bundle import ExportBundle, show_export_menu
from ui.shell.model_strip import StripView
from ui.shell.page import PageContext, open_page, show_badge, show_errors, show_strip
from ui.state.controls import choose, switch
from ui.wording.i18n import _

view, layers = state().view, state().layers
PARTS = {"next": ("logits", "next"), "tokens": ("text",)}
shows = StripView(PARTS.get(view, ("attention",) if layers else ("head",)), here=view not in PARTS)
opened = open_page(two_texts=True, strip=shows)
show_badge(opened)
show_strip(opened)
with st.container(key="compare_view", horizontal=True, vertical_alignment="center", gap="small"):
    choose(
        CompareState,
        "view",
        view,
        {
            "maps": _("maps"),
            "metrics": _("metrics"),
            "next": _("next token"),
            "matrices": _("matrices"),
            "tokens": _("tokens"),
        },
    )
    if view in ("maps", "metrics"):
        switch(CompareState, "layers", layers, _("whole layers"))
    words = (
        _("A is your current selection, with its edits. B starts as a copy without the edits; change "
          "it here.")
        if opened.capture.request.edits
        else _("A is your current selection. B starts as a copy; change it here.")
    )  # fmt: skip  # one sentence
    st.html(f"<p class='atlas-caption'>{words}</p>", width="stretch")
other = show_other(opened)


def shown(other: PageContext) -> ExportBundle | None:
    """Draw the open view and return its export. Raises RunnerError; NotOverOneText if pieces of a text are compared."""
    if view in ("maps", "tokens"):
        check_over_one_text(opened, other)
    if view == "metrics":
        return metrics_view(opened, other, show_metrics(opened, other))
    if view == "next":
        return next_view(opened, other, show_next(opened, other))
    if view == "matrices":
        return matrices_view(opened, other, show_matrices(opened, other))
    if view == "tokens":
        cuts = show_tokens(opened, other)
        return None if cuts is None else tokens_view(opened, other, cuts)
    maps = show_maps(opened, other)
    return None if maps is None else maps_view(opened, other, maps)


def draw() -> None:
    """Draw the page with its tables and files if there is a B. Raises RunnerError."""
    found = None if other is None else shown(other)
    if found is not None:
        show_export_menu(opened, found)


explain(view)
show_errors(draw)
