"""Heads: every head of every layer on this text, and one of them opened beside them."""

from ui.frame import begin_with_frame

begin_with_frame()

import streamlit as st

from analysis.head_map import Reading, What
from ui import cached
from ui import head_views as views
from ui.grid_views import show_grid
from ui.head_export import take_head_away
from ui.head_names import head_name
from ui.i18n import _
from ui.inputs import choose, pick, switch
from ui.next_token import show_next
from ui.page import guarded, open_page, show_badge, show_reading, show_strip
from ui.tables import show_tables

opened = open_page()
show_badge(opened)
grid = cached.grid(opened.capture)
strip = st.container()
left, middle, right = st.columns([0.35, 0.42, 0.23], gap="medium")

with left, st.container(key="grid_controls", horizontal=True, vertical_alignment="center", gap="small"):
    metrics = views.by_name()
    metric = metrics[pick(_("Metric"), "metric", {name: _(item.label) for name, item in metrics.items()}, width=150)]
    mode = choose(_("Draw heads"), "grid", {"maps": _("maps"), "metric": _("numbers")})
    order = choose(_("Order"), "order", {"layer": _("by layer"), "rank": _("ranked")})
    views.show_definition(metric)

with strip:
    show_strip(opened, metric)

with middle:
    heading = st.container(key="map_heading", horizontal=True, vertical_alignment="center", gap="small")
    with heading:
        views.show_heading(opened, grid, metric)
    with st.container(key="map_controls", horizontal=True, vertical_alignment="center", gap="small"):
        kinds: dict[What, str] = {"weights": _("weights"), "scores": _("scores"), "value": "‖w·v‖"}
        what = choose(_("Show"), "what", kinds)
        unscaled = what == "scores"
        color = choose(_("Colour"), "color", {"linear": _("linear"), "log": "log"}, disabled=unscaled)
        unit = choose(_("Unit"), "unit", {"tokens": _("tokens"), "words": _("words")}, disabled=unscaled)
    with heading:
        hide = switch(_("hide first token"), "nofirst", disabled=unscaled)

with right:
    heads = [(layer, head) for layer, n_heads in views.head_counts(opened) for head in range(n_heads)]
    others = {"": None} | {f"L{layer}H{head}": (layer, head) for layer, head in heads}
    names = {f"L{layer}H{head}": f"L{layer}{head_name(opened.capture, layer, head)}" for layer, head in heads}
    other = others[pick(_("Compare"), "other", {"": _("compare with another head")} | names)]

reading = Reading(what=what, hide_first=hide, words=unit == "words")
view = views.read_head(opened, reading, other)
scale = views.scale_of(view, reading, log=color == "log", other=other)
payload = views.map_payload(opened, view, reading, scale, other)
with middle:
    views.show_map(view, payload)
    views.show_caption(opened, reading, other)
with right:
    views.show_lines(opened, other)
with left:
    show_grid(opened, grid, metric, mode=mode, ranked=order == "rank", other=other)
    guarded(lambda: show_next(opened))

show_reading(
    [
        _("Each small square is one head: every row is a token that looks, every column a token that is looked at."),
        _("The stronger the colour, the larger the share of attention; each row adds up to 100 %, and grey is masked."),
        _("The open head is the same square made large; blue is the pinned query, red the pinned key."),
    ],
    formula="weights = softmax(q · kᵀ / √d_head + mask)",
    source="Vaswani et al. 2017, arXiv:1706.03762",
    attempt=_("Pick the induction example, choose the metric “induction”, rank the heads and open the first one."),
)
show_tables(lambda: views.tables_of(opened, grid, metric, view))
take_head_away(opened, view, reading, scale, payload, other)
