"""One view of the page Positions as every view of it is: a component with its data, and the numbers to take away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.positions import Turned, turned
from ui.components import mount
from ui.i18n import _
from ui.page import Opened
from ui.take_away import TakeAway, caption, python_start, show_take_away
from ui.wording import error_size, plain
from viz.components.source import Source
from viz.export import csv_bytes, npz_bytes, standalone_html


@dataclass(frozen=True, eq=False)
class View:
    """``rows`` × ``columns`` label ``table``; ``code`` continues the snippet, ``svg`` draws for the caption it gets."""

    source: Source
    payload: bytes
    what: str  # how the numbers were made, for the files
    table: np.ndarray
    rows: list[str]
    columns: list[str]
    arrays: Mapping[str, np.ndarray]
    code: str
    svg: Callable[[str, str], str] | None  # of a title and a caption
    on: Mapping[str, Callable[[Any], None]] = field(default_factory=dict[str, Callable[[Any], None]])
    name: str = ""


def show_view(view: View) -> None:
    """The picture."""
    mount(view.source, view.payload, key=view.source.name, on=view.on)


def tables_of(opened: Opened, view: View) -> dict[str, pd.DataFrame]:
    """The view's numbers to be read."""
    return {_title(opened, view): pd.DataFrame(view.table, index=view.rows, columns=view.columns)}


def take_view_away(opened: Opened, view: View) -> None:
    """The menu of the page."""
    words, title, svg = caption(opened, view.what), _title(opened, view), view.svg
    show_take_away(
        TakeAway(
            name=f"positions-{title}".replace(" · ", "-"),
            svg=None if svg is None else lambda: svg(title, words),
            html=lambda lang: standalone_html(view.source, view.payload, title=title, caption=words, lang=lang),
            csv=lambda: csv_bytes(view.table, view.rows, view.columns, words),
            npz=lambda: npz_bytes(view.arrays, words),
            snippet=f"{python_start(opened)}\n{view.code}",
        )
    )


def _title(opened: Opened, view: View) -> str:
    return " · ".join(filter(None, [f"L{opened.layer}H{opened.head}", view.name]))


def checked(opened: Opened) -> Turned:
    """The layer's rotation, proved on the captured vectors; where that fails, nothing is drawn and the page ends.

    Raises NoRotation, NotRecoverable.
    """
    found = turned(opened.capture, opened.layer)
    if not found.ok:
        words = _(
            "The rotation of layer {layer} is not drawn: vectors turned here differ from the captured ones by {error}, "
            "more than rounding can explain ({tolerance})."
        )
        values = {"error": error_size(found.difference), "tolerance": error_size(found.tolerance)}
        st.error(plain(words.format(layer=opened.layer, **values)))
        st.stop()
    return found
