"""q·k of every cell of the open head as maps of its factors: the cosine, the product of both norms, and q·k itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.color_scale import Scale
from analysis.head_map import HeadMap, Window
from analysis.read_head import labels
from analysis.similarity_maps import SimilarityMaps, similarity_maps
from analysis.tables import map_table
from ui.shared import cached
from ui.shared.head_views import OVERVIEW, map_events
from ui.shell.components import mount, show_heading
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.wording.i18n import _
from viz import figure_svg
from viz.components.head_map import head_map as map_component
from viz.export import map_svg

N_ = str  # marks a text for Babel without translating it here

NAMES = {"cosines": "cos", "lengths": "‖q‖ ‖k‖", "products": "q · k"}  # as in SimilarityMaps
CELLS = {
    "cosines": N_("{query} → {key}: cos {value}"),
    "lengths": N_("{query} → {key}: ‖q‖ ‖k‖ = {value}"),
    "products": N_("{query} → {key}: q · k = {value}"),
}
HEIGHT = 380  # px; three maps fit side by side


@dataclass(frozen=True, eq=False)
class DrawnMaps:
    """The three maps in view, of which layer and head."""

    maps: SimilarityMaps
    layer: int
    head: int

    @property
    def views(self) -> dict[str, HeadMap]:
        return {name: getattr(self.maps, name) for name in NAMES}


def show_maps(opened: PageContext) -> DrawnMaps:
    """Show the maps side by side in the session's window; a click pins its cell in all three. Raises NoWeights."""
    drawn = maps_of(opened)
    words = _("Every cell of L{layer}H{head}: the first map times the second is the third. Nothing is divided by √d.")
    said = words.format(layer=opened.layer, head=opened.head)
    st.html(f"<p class='atlas-caption'>{escape(said)}</p>")
    for (name, view), column in zip(drawn.views.items(), st.columns(3, gap="medium"), strict=True):
        with column:
            show_heading(escape(NAMES[name]))
            mount(map_component.SOURCE, _payload(opened, name, view), key=f"similarity_{name}", on=map_events(view))
    return drawn


def maps_of(opened: PageContext) -> DrawnMaps:
    """The three maps in the session's window. Raises NoWeights."""
    held = session.selection().window
    return DrawnMaps(_made(opened, None if held is None else Window(*held)), opened.layer, opened.head)


def scale_of(name: str, view: HeadMap) -> Scale:
    """cos from −1 to 1, norms from 0, products around 0, the latter two up to the largest in view."""
    if name == "cosines":
        return Scale("diverging", -1.0, 1.0, False, "plain")
    high = max(view.largest, 1e-9)
    return (
        Scale("sequential", 0.0, high, False, "plain")
        if name == "lengths"
        else Scale("diverging", -high, high, False, "plain")
    )


def _made(opened: PageContext, window: Window | None, pixels: int | None = None) -> SimilarityMaps:
    head, more = (opened.layer, opened.head), {} if pixels is None else {"pixels": pixels}
    key = ("similarity maps", repr(opened.capture.request), head, window, pixels)
    return cached.made(key, lambda: similarity_maps(opened.capture, *head, window=window, **more))


def _payload(opened: PageContext, name: str, view: HeadMap) -> bytes:
    texts = map_component.texts_of("weights", mean=view.how == "mean") | {"cell": CELLS[name]}
    small = None if view.window == view.whole else getattr(_made(opened, None, OVERVIEW), name).values
    return map_component.HeadMapPicture(
        values=view.values,
        window=view.inside,
        total=view.total,
        row_labels=view.row_labels,
        col_labels=view.column_labels,
        **asdict(scale_of(name, view)),
        selected=view.units_at(opened.query, opened.key),
        pool=view.pool,
        overview=small,
        texts=translated(texts) | {"summary": f"L{opened.layer}H{opened.head}: {NAMES[name]}"},
        max_height=HEIGHT,
    ).packed()


# -- export -----------------------------------------------------------------------------------------------------------


def tables_of(drawn: DrawnMaps) -> dict[str, pd.DataFrame]:
    """Each map's numbers under its title."""
    words = _("{measure}, every cell")
    return {words.format(measure=NAMES[name]): map_table(view) for name, view in drawn.views.items()}


def arrays_of(drawn: DrawnMaps) -> dict[str, np.ndarray]:
    """``cosines``, ``lengths`` and ``products`` [queries, keys], NaN where masked."""
    return {name: view.values for name, view in drawn.views.items()}


def svg_of(drawn: DrawnMaps, name: str) -> bytes:
    """One of the maps as a picture."""
    view, title = drawn.views[name], f"L{drawn.layer}H{drawn.head} {NAMES[name]}"
    rows, columns = labels(view)
    return map_svg(
        view.values,
        row_labels=rows if view.how == "exact" else [],
        col_labels=columns if view.how == "exact" else [],
        title=title,
        caption=title,
        texts=translated(figure_svg.TEXTS),
        **asdict(scale_of(name, view)),
    ).encode()


def code_of(drawn: DrawnMaps) -> str:
    """Code for the same arrays, given ``capture``."""
    window = drawn.maps.cosines.window
    edges = f"{window.q0}, {window.q1}, {window.k0}, {window.k1}"
    return (
        "\nfrom attention_atlas.analysis.head_map import Window\n"
        "from attention_atlas.analysis.similarity_maps import similarity_maps\n\n"
        f"maps = similarity_maps(capture, {drawn.layer}, {drawn.head}, window=Window({edges}))\n"
        "every_cosine, every_length, every_product = maps.cosines.values, maps.lengths.values, maps.products.values\n"
    )
