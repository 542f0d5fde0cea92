"""Heads: every head of every layer on this text, with one of them open."""

import streamlit as st

from pages.heads import habit, open_head
from pages.heads.buckets import show_buckets
from pages.heads.by_cell import show_by_cell, with_ranking
from pages.heads.chosen_keys import show_index_scores, with_index_scores
from pages.heads.export import heads_view
from pages.heads.grid import show_grid
from pages.heads.next_token import show_next
from pages.heads.quick import draw_open, offer_quickly
from pages.heads.reading import explain
from pages.heads.state import HeadsState, metric_of, metrics_of, names_of_heads, other_of, reading_of
from ui.shared import cached
from ui.shared.display_menu import choose_display, display_menu, show_changed
from ui.shared.export_bundle import show_export_menu
from ui.shared.finding import show_finding
from ui.shared.head_views import DrawnHead, show_map
from ui.shared.strip_shade import bars_of, shade_by_row
from ui.shell.fragment_first import draw_fragment_first, moved, rerun_fragment
from ui.shell.model_strip import StripView
from ui.shell.page import open_page, show_badge, show_errors, show_strip
from ui.state.controls import pick, switch
from ui.state.page_state import current
from ui.wording.i18n import _

opened = open_page(two_texts=True, compressed=True, strip=StripView(then=lambda: rerun_fragment("open_head")))
show_badge(opened)
held, grid = current(HeadsState), cached.grid(opened.capture)
by = metric_of(opened, held)
names = names_of_heads(opened)
other = other_of(opened, held, names)
strip = st.container()
with st.container(key="heads_columns" if other is None else "heads_compared"):
    left, middle, right = st.columns([0.33, 0.42, 0.25], gap="medium")


def show_open_head(alone: bool) -> DrawnHead:
    """Show the open head under its name; a click on a head reruns this part first."""
    here, held = moved(opened) if alone else opened, current(HeadsState)
    above, below = st.container(), st.container()
    second = other_of(here, held, names)
    with above:
        reading = reading_of(here, held, second)
    drawn = draw_open(here, reading, second, held.color == "log")
    unscaled = reading.what in ("scores", "difference")
    with above, st.container(key="map_heading"):
        show_finding(*open_head.finding(drawn, open_head.facts_of(here, grid, metric_of(here, held))))
    with below:  # drawn before what is above it, so that a click on a head does not wait for the menu
        show_map(drawn, "head_map")
        st.html(open_head.caption(drawn))
        show_buckets(here)
    with above, st.container(key="map_habit", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(habit.habit_line(here) or "<span></span>", width="stretch")
    with above, st.container(key="map_controls", horizontal=True, vertical_alignment="center", gap="small"):
        kinds = {"weights": _("weights"), "scores": _("scores"), "value": "‖w·v‖"}
        if here.capture.record(here.layer).difference is not None:
            kinds["difference"] = _("difference")
        colors, units = {"linear": _("linear"), "log": "log"}, {"tokens": _("tokens"), "words": _("words")}
        what = held.what if held.what in kinds else "weights"
        signed = drawn.scale.scale == "diverging"  # around 0, which has no logarithm
        with display_menu("map"):
            choose_display(HeadsState, "what", what, kinds)
            choose_display(HeadsState, "color", held.color, colors, disabled=signed)
            choose_display(HeadsState, "unit", held.unit, units, disabled=held.what == "scores")
            switch(HeadsState, "hide_first", held.hide_first, _("hide first token"), disabled=unscaled)
        show_changed(
            HeadsState,
            {
                "what": (what, kinds[what]),
                "color": (held.color, colors[held.color]),
                "unit": (held.unit, units[held.unit]),
                "hide_first": (held.hide_first, _("first token hidden")),
            },
        )
    return drawn


with middle:
    drawn = draw_fragment_first("open_head", show_open_head)

with middle:
    index_scores = show_index_scores(drawn.opened)

with right:
    named = held.other if other is not None else ""
    pick(HeadsState, "other", named, {"": _("compare with a head")} | names)
    open_head.show_lines(drawn, other)
    ranking = show_by_cell(drawn)

with strip:
    where = opened.capture, opened.layer, opened.head
    by_row = shade_by_row(*where, opened.query, hide_first=drawn.read.reading.hides_first)
    show_strip(opened, by_row, both=True, bars=bars_of(*where, by) if held.shade else None)

with left:
    with st.container(key="grid_controls", horizontal=True, vertical_alignment="center", gap="small"):
        metrics = {name: _(metric.label) for name, metric in metrics_of(opened).items()}
        pick(HeadsState, "metric", by.name, metrics, width=150)
        drawings, orders = {"maps": _("maps"), "metric": _("numbers")}, {"layer": _("by layer"), "rank": _("ranked")}
        with display_menu("grid"):
            choose_display(HeadsState, "grid", held.grid, drawings)
            choose_display(HeadsState, "order", held.order, orders)
            switch(HeadsState, "shade", held.shade, _("by token"))
        show_changed(
            HeadsState,
            {
                "grid": (held.grid, drawings[held.grid]),
                "order": (held.order, orders[held.order]),
                "shade": (held.shade, _("by token")),
            },
        )
        st.html(open_head.definition(by), width="stretch")
    show_grid(opened, grid, held, by, other)
    # the encoder alone predicts nothing
    if opened.capture.request.attention != "encoder" or opened.runner.info.classes:
        show_errors(lambda: show_next(opened))

offer_quickly(opened, held, other)
explain(opened)
view = with_index_scores(heads_view(drawn, grid, by), drawn.opened, index_scores)
show_export_menu(opened, with_ranking(view, drawn.opened, ranking))
