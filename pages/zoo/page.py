"""Zoo: softmax attention and its alternatives, on the open head's own queries, keys and values."""

from html import escape

import streamlit as st

from model_runner.errors import OneStackOnly
from pages.zoo.cost import show_cost
from pages.zoo.export import cost_view, maps_view
from pages.zoo.film import film_view, show_film
from pages.zoo.hybrid import show_hybrid
from pages.zoo.in_model import show_in_model
from pages.zoo.linear import linear_view, show_linear
from pages.zoo.maps import show_maps
from pages.zoo.measured import measured_view, show_measured
from pages.zoo.model_export import hybrid_view, model_view
from pages.zoo.reading import explain
from pages.zoo.state import ZooState, state
from pages.zoo.weights import show_weights, weights_view
from ui.shared.export_bundle import ExportBundle, show_export_menu
from ui.shell.fragment_first import draw_fragment_first, moved, rerun_fragment
from ui.shell.model_strip import StripView
from ui.shell.page import PageContext, open_page, show_badge, show_errors, show_strip
from ui.state.controls import choose
from ui.wording.i18n import _

view = state().view
running = view in ("model", "hybrid", "weights")  # compared with the unedited model, on its next token
lit = ("head",) if view in ("maps", "linear", "flash", "weights") else ("attention",)
shows = StripView(lit, here=view != "cost", then=lambda: rerun_fragment("zoo"), edits=running)
opened = open_page(plain_model=running, two_texts=True, strip=shows)
show_badge(opened)
show_strip(opened, then=lambda: rerun_fragment("zoo"))
with st.container(key="zoo_view", horizontal=True, vertical_alignment="center", gap="small"):
    views = {
        "maps": _("on this head"),
        "linear": _("linear attention"),
        "model": _("in the model"),
        "hybrid": _("hybrid"),
        "weights": _("singular values"),
        "flash": "FlashAttention",
        "cost": _("cost"),
    }
    choose(ZooState, "view", view, views)
    words = _("Substituted, not trained: the model learned its queries and keys for softmax.")
    if view == "linear":
        words = _(
            "A product of three matrices in either order: the same output, with different amounts of work and memory."
        )
    elif view == "flash":
        words = _("Softmax itself, by tiles: keys (Dao et al. 2022) or queries (Dao 2023) in the outer loop.")
    elif view == "weights":
        words = _("The model’s own matrix, changed while it runs: the weights that are loaded stay as they are.")
    elif view == "cost":
        words = ""
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")


def view_of(here: PageContext) -> ExportBundle:
    """Draw the open view and return its export. Raises RunnerError."""
    if running and here.runner.info.attentions:
        raise OneStackOnly(name=here.runner.info.name)
    if view == "cost":
        return measured_view(show_measured(here)) if state().how == "measured" else cost_view(show_cost(here))
    if view == "linear":
        return linear_view(show_linear(here))
    if view == "flash":
        return film_view(show_film(here))
    if view == "model":
        return model_view(here, show_in_model(here))
    if view == "hybrid":
        return hybrid_view(show_hybrid(here))
    return weights_view(here, show_weights(here)) if view == "weights" else maps_view(show_maps(here))


def draw(alone: bool) -> list[ExportBundle]:
    """Draw the open view; an empty list if a sentence is shown instead."""
    drawn: list[ExportBundle] = []
    show_errors(lambda: drawn.append(view_of(moved(opened) if alone else opened)))
    return drawn


explain(view)
for shown in draw_fragment_first("zoo", draw):
    show_export_menu(opened, shown)
