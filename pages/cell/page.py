"""Inside a cell: one head, query and key, from the two vectors to the effect on the next token."""

from html import escape

import streamlit as st

from analysis.cell import cell
from analysis.changed_vectors import changed_words
from analysis.mask_effect import looks_ahead
from pages.cell.export import cell_view
from pages.cell.state import CellState
from pages.cell.steps import finding, formula, show_coordinates, show_row_strip, show_steps, steps_payload
from ui.shared.export_bundle import show_export_menu
from ui.shared.finding import show_finding
from ui.shared.help_card import show_reading
from ui.shell.page import open_page, settle, show_badge, show_errors
from ui.state.controls import choose
from ui.state.page_state import current
from ui.wording.i18n import _

opened, query, key = settle(open_page(two_texts=True, compressed=True))
show_badge(opened)


def draw() -> None:
    """Draw the cell step by step. Raises RunnerError for a head without scores."""
    found = cell(opened.capture, opened.layer, opened.head, query, key)
    held = current(CellState)
    show_row_strip(opened, found, sets=held.sets)

    with st.container(key="cell_controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        show_coordinates(opened, query, key)
        choose(CellState, "sets", held.sets, {"query": _("click sets query"), "key": _("click sets key")})

    if words := changed_words(opened.capture, opened.layer, opened.head, _):
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    show_finding(*finding(opened, found))
    payload = steps_payload(opened, found, held.step)
    show_steps(payload)
    to_next = _("Last, the head's direct push on the next token. Click a step for its formula, a bar for another key.")
    to_here = _(
        "Last, the head's direct push on the token at the query's place, which this model fills in. Click a step for "
        "its formula, a bar for another key."
    )
    show_reading(
        [
            _("Left, the score: the numbers of query and key are multiplied pairwise, added up, scaled and masked."),
            _("Right, what becomes of it: the softmax turns the row of scores into weights, and they mix the values."),
            to_here if looks_ahead(opened.capture) else to_next,
        ],
        formula=formula(found),
        source="Vaswani et al. 2017, arXiv:1706.03762; Elhage et al. 2021, transformer-circuits.pub",
        attempt=_("Choose another key and see which dimensions decide its product with the query."),
    )
    show_export_menu(opened, cell_view(opened, found, payload))


show_errors(draw)
