"""Positions: the rotation of real queries and keys, what it does to their scores, and the other ways beside it."""

from ui.frame import begin_with_frame

begin_with_frame()

import streamlit as st

from analysis.distance_curves import Contents
from model_runner.errors import NotRecoverable
from ui.cell_views import settle
from ui.i18n import _
from ui.inputs import choose
from ui.page import guarded, open_page, show_badge, show_reading
from ui.position_others import others_view
from ui.position_places import show_head, show_row_strip
from ui.position_rotation import rotation_view, shift_view
from ui.position_scores import split_view, sweep_view
from ui.position_view import checked, show_view, tables_of, take_view_away
from ui.position_what_if import show_what_if
from ui.tables import show_tables
from ui.wording import plain, sentence

opened, query, key = settle(open_page())
show_badge(opened)
strip = st.container()

with st.container(key="position_controls", horizontal=True, vertical_alignment="center", gap="small"):
    show_head(opened)
    views = {
        "rotation": _("rotation"),
        "difference": _("only the difference"),
        "frequencies": _("by frequency"),
        "distance": _("against distance"),
        "what_if": _("what if"),
        "others": _("the others"),
    }
    name = choose(_("View"), "positions", views)
    sets, reach = "query", "64"
    contents: Contents = "text"
    if name in ("difference", "frequencies"):
        sets = choose(
            _("A click on the text sets"), "sets", {"query": _("click sets query"), "key": _("click sets key")}
        )
    if name == "distance":
        kinds: dict[Contents, str] = {"text": _("whole text"), "query": _("this query"), "cell": _("this cell")}
        contents = choose(_("Contents"), "contents", kinds)
        reach = choose(_("Reach"), "reach", {n: _("up to {count}").format(count=n) for n in ("64", "256", "2048")})

with strip:
    show_row_strip(opened, query, key, sets=sets)

try:
    layout = checked(opened)
except NotRecoverable as error:  # NoRotation is one: what there is instead is shown
    layout, name = None, "others"
    st.info(plain(sentence(error)))

if layout is not None and name == "what_if":
    guarded(lambda: show_what_if(opened))
else:
    if layout is None or name == "others":
        view = others_view(opened, layout)
    elif name == "rotation":
        view = rotation_view(opened, layout, query)
    elif name == "difference":
        view = shift_view(opened, layout, query, key)
    elif name == "frequencies":
        view = split_view(opened, layout, query, key)
    else:
        view = sweep_view(opened, query, key, contents=contents, reach=int(reach))
    show_view(view)
    show_tables(lambda: tables_of(opened, view))
    take_view_away(opened, view)

show_reading(
    [
        _("Every two numbers of a query or key make a vector in a plane; at position m each is turned by m times θ."),
        _("The fast pairs tell neighbours apart, the slow ones hardly turn, so their product is almost content alone."),
        _("A score then depends on the difference of two positions only: move both, and nothing changes."),
    ],
    formula="q′ = R(m·θ) q,  k′ = R(n·θ) k\nq′ · k′ = Σ |qᵢ||kᵢ| cos(φᵢ + (m − n)·θᵢ)",
    source="Su et al. 2021, arXiv:2104.09864",
    attempt=_("Drag the position to the end of the context and see which pairs have hardly moved."),
)
