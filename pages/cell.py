"""Inside a cell: one head, one query, one key, from the two vectors to the push on the next token."""

from ui.frame import begin_with_frame

begin_with_frame()

import streamlit as st

from analysis.cell import cell
from ui.cell_export import take_cell_away
from ui.cell_views import formula, settle, show_coordinates, show_row_strip, show_steps, steps_payload, tables_of
from ui.i18n import _
from ui.inputs import choose
from ui.page import open_page, show_badge, show_reading
from ui.tables import show_tables

opened, query, key = settle(open_page())
show_badge(opened)
found = cell(opened.capture, opened.layer, opened.head, query, key)
strip = st.container()

with st.container(key="cell_controls", horizontal=True, vertical_alignment="bottom", gap="small"):
    show_coordinates(opened, query, key)
    sets = choose(_("A click on the text sets"), "sets", {"query": _("click sets query"), "key": _("click sets key")})

with strip:
    show_row_strip(opened, found, sets=sets)

payload = steps_payload(opened, found)
show_steps(payload)
show_reading(
    [
        _("Left, the score: the numbers of query and key are multiplied pairwise, added up, scaled and masked."),
        _("Right, what becomes of it: the softmax turns the row of scores into weights, and they mix the values."),
        _("Last, the head's direct push on the next token. Click a step for its formula, a bar for another key."),
    ],
    formula=formula(found),
    source="Vaswani et al. 2017, arXiv:1706.03762; Elhage et al. 2021, transformer-circuits.pub",
    attempt=_("Choose another key and see which dimensions decide its product with the query."),
)
show_tables(lambda: tables_of(opened, found))
take_cell_away(opened, found, payload)
