"""Heads: every head of every layer on this text, and one of them opened beside them."""

import numpy as np
import streamlit as st

from analysis.head_map import Reading
from analysis.token_metric import token_metric
from attention.metrics import METRICS
from ui import session
from ui.head_export import take_head_away
from ui.head_views import map_payload, read_head, scale_of, show_grid, show_lines, show_map, show_next
from ui.i18n import _
from ui.inputs import choose, pick, switch
from ui.page import guarded, open_page, show_badge, show_reading, show_strip
from ui.wording import number

opened = open_page()
show_badge(opened)
grid = session.grid(opened.capture)
by_name = {metric.name: metric for metric in METRICS}
strip = st.container()
left, middle, right = st.columns([0.36, 0.40, 0.24], gap="medium")

with left:
    with st.container(key="grid_controls", horizontal=True, vertical_alignment="center", gap="small"):
        mode = choose(_("Draw heads"), "grid", {"maps": _("as maps"), "metric": _("by metric")})
        ranked = choose(_("Order"), "order", {"layer": _("by layer"), "rank": _("ranked")}) == "rank"
        labels = {name: _(metric.label) for name, metric in by_name.items()}
        metric = by_name[pick(_("Metric"), "metric", list(by_name), labels, index=2)]

values = token_metric(opened.capture, opened.layer, opened.head, metric)
tint = values if metric.unit == "share" else values / max(float(np.nanmax(np.nan_to_num(values))), 1e-9)
with strip:
    show_strip(opened, tint)

with middle:
    own = grid.metrics[metric.name][opened.layer, opened.head]
    st.html(
        f"<div class='atlas-head'><b>L{opened.layer}H{opened.head}</b> {_(metric.label)} {number(own, metric.unit)} · "
        f"{_('entropy')} {number(grid.metrics['entropy'][opened.layer, opened.head], 'bits')}</div>"
    )
    with st.container(key="map_controls", horizontal=True, vertical_alignment="center", gap="small"):
        what = choose(_("Show"), "what", {"weights": _("weights"), "scores": _("scores"), "value": "‖w·v‖"})
        log = choose(_("Colour"), "color", {"linear": _("linear"), "log": "log"}, disabled=what == "scores") == "log"
        words = choose(_("Unit"), "unit", {"tokens": _("tokens"), "words": _("words")}, disabled=what == "scores")
        hide = switch(_("hide first token"), "nofirst", disabled=what == "scores")

with right:
    names = {"": _("compare with …")}
    names |= {f"L{layer}H{head}": f"L{layer}H{head}" for layer in range(opened.capture.n_layers)
              if opened.capture.has_weights(layer) for head in range(len(opened.capture.q(layer)))}  # fmt: skip
    chosen = pick(_("Compare with"), "other", list(names), names)
    other = (int(chosen[1:].split("H")[0]), int(chosen.split("H")[1])) if chosen else None

reading = Reading(what=what, hide_first=hide, words=words == "words")
view = read_head(opened, reading, other)
with middle:
    scale = scale_of(view, reading, log=log, other=other)
    payload = map_payload(opened, view, reading, scale, other)
    show_map(view, payload)
with right:
    show_lines(opened, other)
with left:
    show_grid(opened, grid, metric, mode=mode, ranked=ranked, other=other)
    st.caption(f"{_(metric.label)}: {_(metric.definition)} ({metric.source})")
    guarded(lambda: show_next(opened))

show_reading(
    [
        _("Each small square is one head: every row is a token that looks, every column a token that is looked at."),
        _("The darker a cell, the larger the share of its attention; each row adds up to 100 %, and grey is masked."),
        _("The open head is the same square made large; blue is the pinned query, red the pinned key."),
    ],
    formula="weights = softmax(q · kᵀ / √d_head + mask)",
    source="Vaswani et al. 2017, arXiv:1706.03762",
    attempt=_("Rank the heads by “induction” on the induction example, and open the first one."),
)
take_head_away(opened, view, reading, scale, payload, other)
