"""The numbers behind a page's pictures as tables, for screen readers and other readers who prefer them."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from analysis.number_text import plain_number
from analysis.tables import of_cells
from ui.state.frame_slots import frame_slots
from ui.wording.i18n import _
from viz.export import guarded
from viz.markdown import plain

LARGEST_PLAIN = 32  # largest plain HTML table, in rows or columns: screen readers read these best; larger tables scroll


def show_tables(tables: Callable[[], dict[str, pd.DataFrame]], covered: str = "") -> None:
    """Show the tables' menu (heading → table, made when it opens), or why they are ``covered``."""
    menu = frame_slots().tables.popover(_("As tables"), type="tertiary", on_change="rerun", key="tables")
    if not menu.open:
        return
    with menu:
        if covered:
            st.caption(covered)
        for heading, table in ({} if covered else tables()).items():
            st.caption(of_cells(heading, table, _))
            if max(table.shape) <= LARGEST_PLAIN:
                st.table(table.map(plain_number).rename(index=plain, columns=plain))  # st.table renders Markdown
            else:
                st.dataframe(_guarded(table))


def _guarded(table: pd.DataFrame) -> pd.DataFrame:
    """Escape spreadsheet formulas: Streamlit (1.67) adds a button that saves the table as CSV unchanged."""

    def safe(one: object) -> object:
        return guarded(one) if isinstance(one, str) else one

    return table.map(safe).rename(index=safe, columns=safe)
