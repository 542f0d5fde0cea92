"""Generation film: the text continues frame by frame, and every frame shows how its token was chosen."""

import streamlit as st

from pages.film.controls import show_controls
from pages.film.export import film_view
from pages.film.opening import open_film
from pages.film.views import show_film
from ui.shared.export_bundle import show_export_menu
from ui.shared.help_card import show_reading
from ui.shared.open_text import offer_open_text
from ui.shell.model_strip import StripView
from ui.shell.page import open_page, show_badge
from ui.wording.i18n import _

shows = StripView(("text", "head", "next", "loop"))
opened = open_page(address=False, two_texts=True, strip=shows)  # a changed setting makes another film: one step of Back
offer_open_text(opened.capture)
controls = st.empty()
with controls.container(key="film_controls", horizontal=True, vertical_alignment="bottom", gap="small"):
    every_head = show_controls(opened)
opened, film = open_film(opened, controls)
badge = show_badge(opened)
show_film(opened, film, badge, every_head=every_head)
show_reading(
    [
        _("Every frame is one token. Arcs lead from it to the tokens it looks at; below, each token "
          "has a column with the attention of every layer, and one with the keys and values that it "
          "adds to the cache."),
        _("Right, what comes next: the likeliest candidates, an outline for the model’s own probability."),
        _("What your settings left is filled, what they removed is grey; one of the filled ones was drawn at random."),
        _("To draw, all tokens lie side by side in the order of their ids, each as wide as its filled bar; a random "
          "number u between 0 and 1 falls on one of them."),
    ],
    formula="token ~ transforms(softmax(W_U · norm(h)))\ncache = 2 · layers · kv heads · d_head · tokens",
    source="Holtzman et al. 2020, arXiv:1904.09751; Pope et al. 2023, arXiv:2211.05102",
    attempt=_("Stop at a token with a close second, click the second, and see where that story goes."),
)  # fmt: skip  # one sentence a paragraph
show_export_menu(opened, film_view(opened, film, every_head=every_head))
