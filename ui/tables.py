"""The numbers of a page's pictures as tables, for screen readers and for whoever prefers them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from ui import session
from ui.i18n import _

LARGEST_PLAIN = 32  # rows or columns of a plain HTML table, which a screen reader reads best; larger ones scroll


def labelled(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """A table of these values; equal labels stay apart by their places."""
    numbered = [[f"{i} {label}" for i, label in enumerate(labels)] for labels in (rows, columns)]
    return pd.DataFrame(values, index=numbered[0], columns=numbered[1])


def show_tables(tables: Callable[[], dict[str, pd.DataFrame]]) -> None:
    """The menu in the head of the page; heading → table, made once it is open."""
    menu = session.slots()["tables"].popover(_("As tables"), type="tertiary", on_change="rerun", key="tables")
    if not menu.open:
        return
    with menu:
        for heading, table in tables().items():
            st.caption(heading)
            if max(table.shape) <= LARGEST_PLAIN:
                st.table(table.map(lambda value: "" if np.isnan(value) else f"{value:.4g}"))
            else:
                st.dataframe(table)
