"""Generation film: the text goes on, frame by frame, and every frame shows how its token came about."""

from ui.frame import begin_with_frame

begin_with_frame()

import streamlit as st

from ui.film_controls import show_controls
from ui.film_export import take_film_away
from ui.film_opening import open_film
from ui.film_views import show_film, tables_of
from ui.i18n import _
from ui.page import open_page, show_badge, show_reading
from ui.tables import show_tables

opened = open_page()
with st.container(key="film_controls", horizontal=True, vertical_alignment="bottom", gap="small"):
    every_head = show_controls(opened)
opened, film = open_film(opened)
show_badge(opened)
show_film(opened, film, every_head=every_head)
show_reading(
    [
        _("Every frame is one token: left, the likeliest candidates, an outline for the model’s own probability."),
        _("What your settings left is filled, what they removed is grey; one of the filled ones was drawn at random."),
        _("Right, where the new token looks, and the keys and values that it adds to the cache: one column a token."),
    ],
    formula="token ~ transforms(softmax(W_U · norm(h)))\ncache = 2 · layers · kv heads · d_head · tokens",
    source="Holtzman et al. 2020, arXiv:1904.09751; Pope et al. 2023, arXiv:2211.05102",
    attempt=_("Stop at a token with a close second, click the second, and see where that story goes."),
)
show_tables(lambda: tables_of(opened, film))
take_film_away(opened, film, every_head=every_head)
