"""Zoo: softmax attention and its rivals, on the open head's own queries, keys and values."""

from html import escape

import streamlit as st

from pages.zoo.cost import show_cost
from pages.zoo.cut import show_head
from pages.zoo.export import cost_view, maps_view
from pages.zoo.film import film_view, show_film
from pages.zoo.maps import show_maps
from pages.zoo.measured import measured_view, show_measured
from pages.zoo.reading import explain
from pages.zoo.state import ZooState, state
from ui.controls import choose
from ui.i18n import _
from ui.page import guarded, open_page, show_badge, show_strip
from ui.view import offer

opened = open_page(two_texts=True)
show_badge(opened)
show_strip(opened)
view = state().view
with st.container(key="zoo_view", horizontal=True, vertical_alignment="center", gap="small"):
    show_head(opened)
    choose(ZooState, "view", view, {"maps": _("on this head"), "flash": "FlashAttention", "cost": _("cost")})
    words = {
        "maps": _("Substituted, not trained: the model learned its queries and keys for softmax."),
        "flash": _("Softmax itself, by tiles: keys (Dao et al. 2022) or queries (Dao 2023) in the outer loop."),
    }.get(view, "")
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")


def draw() -> None:
    """The view that is open, with its tables and its files. Raises RunnerError."""
    if view == "cost" and state().how == "measured":
        offer(opened, measured_view(show_measured(opened)))
    elif view == "cost":
        offer(opened, cost_view(show_cost(opened)))
    elif view == "flash":
        offer(opened, film_view(show_film(opened)))
    else:
        offer(opened, maps_view(show_maps(opened)))


explain(view)
guarded(draw)
