"""The numbers of a page's pictures as tables, for screen readers and for whoever prefers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import streamlit as st

from ui import session
from ui.i18n import _
from ui.wording import plain

LARGEST_PLAIN = 32  # rows or columns of a plain HTML table, which a screen reader reads best; larger ones scroll


def labelled(values: np.ndarray, rows: Mapping[int, str], columns: Mapping[int, str]) -> pd.DataFrame:
    """A table of these values, position → label on both sides; equal labels stay apart by their positions."""
    numbered = [[f"{position} {label}" for position, label in labels.items()] for labels in (rows, columns)]
    return pd.DataFrame(values, index=numbered[0], columns=numbered[1])


def plain_number(value: float) -> str:
    """A whole number in full, another with four digits, without a power of ten where it can be; nothing for NaN."""
    if np.isnan(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == round(value) else f"{value:.4g}"


def show_tables(tables: Callable[[], dict[str, pd.DataFrame]]) -> None:
    """The menu in the head of the page; heading → table, made once it is open."""
    menu = session.slots()["tables"].popover(_("As tables"), type="tertiary", on_change="rerun", key="tables")
    if not menu.open:
        return
    with menu:
        for heading, table in tables().items():
            st.caption(heading)
            if max(table.shape) <= LARGEST_PLAIN:
                st.table(table.map(plain_number).rename(index=plain, columns=plain))  # which reads Markdown
            else:
                st.dataframe(table)
