"""The numbers of a picture as tables: the same numbers, labelled by position, and no label read as Markdown."""

from __future__ import annotations

from unittest.mock import MagicMock, Mock

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from analysis.number_text import plain_number
from analysis.tables import labelled
from tests.ui.driving import open_app, payload
from ui.shared import export_bundle, tables


@pytest.fixture
def offered(monkeypatch):
    """The tables a page offered, in order."""
    found: list[dict[str, pd.DataFrame]] = []
    monkeypatch.setattr(export_bundle, "show_tables", lambda make, _covered: found.append(make()))
    return found


def test_equal_labels_stay_apart_by_their_positions():
    table = labelled(np.eye(2), {3: "·the", 7: "·the"}, {0: "a", 1: "a"})
    assert (list(table.index), list(table.columns)) == (["3 ·the", "7 ·the"], ["0 a", "1 a"])


def test_nothing_in_a_table_that_can_be_saved_is_a_formula(monkeypatch):
    """Streamlit's own button writes what stands there, and a spreadsheet would run it."""
    shown: list[pd.DataFrame] = []
    monkeypatch.setattr(tables, "st", Mock(dataframe=shown.append))
    monkeypatch.setattr(tables, "frame_slots", MagicMock())
    monkeypatch.setattr(tables, "_", str)
    words = ["=1+1", "\t=1", "@SUM(1)", "＝1", " -2", "the"] * 6
    given = pd.DataFrame({"=A1": words, "share": np.linspace(-1, 1, 36)}, index=words)
    tables.show_tables(lambda: {"": given})
    (table,) = shown
    safe = ["'=1+1", "'\t=1", "'@SUM(1)", "'＝1", "' -2", "the"] * 6
    assert list(table.index) == list(table["'=A1"]) == safe
    assert list(table["share"]) == list(given["share"])


@pytest.mark.parametrize(
    "value, written",
    [(65536.0, "65,536"), (1_200_000, "1,200,000"), (12345.6, "12,346"), (0.25, "0.25"), (3, "3"), (np.nan, "")],
)
def test_large_numbers_are_written_in_full(value, written):
    assert plain_number(value) == written


@pytest.mark.parametrize(
    "address",
    [{}, {"what": "scores"}, {"window": "2-6-1-4"}, {"unit": "words", "text": "The unhappiest squirrelologist"}],
    ids=str,
)
def test_the_table_of_the_map_is_the_map(offered, address):
    app = open_app(layer="3", head="7", **address)
    np.testing.assert_array_equal(offered[-1]["L3H7"].to_numpy(), payload(app, "head_map")[1]["values"])


def test_a_window_keeps_the_positions_of_the_whole_text(offered):
    open_app(window="2-6-1-4")
    table = next(iter(offered[-1].values()))
    assert list(table.index) == ["2 ·dog", "3 ·chased", "4 ·the", "5 ·squirrel"]
    assert list(table.columns) == ["1 The", "2 ·dog", "3 ·chased"]


def test_the_table_of_the_metric_is_the_grid(offered):
    app = open_app(metric="entropy")
    table = offered[-1]["entropy"]
    np.testing.assert_array_equal(table.to_numpy(), payload(app, "head_grid")[1]["metric"])
    assert (table.index[3], table.columns[7]) == ("L3", "H7")


def test_the_tables_of_a_cell_are_its_row_and_its_two_vectors(offered):
    open_app(page="pages/cell/page.py", layer="3", head="7", query="7", key="2")
    row, vectors = offered[-1].values()
    assert list(row.index)[2] == "2 ·dog"
    assert row["weight"].sum() == pytest.approx(1, abs=1e-6)  # float32 weights of one row
    assert all(isinstance(name, str) for name in vectors.index)  # what Markdown is escaped in
    assert (vectors["q"] * vectors["k"]).sum() == pytest.approx(row["q·k"].iloc[2], rel=1e-9)


def test_a_label_is_never_read_as_markdown_and_a_masked_cell_is_empty():
    def script() -> None:
        from types import SimpleNamespace

        import numpy as np
        import streamlit as st

        from analysis.tables import labelled
        from ui.shared import tables
        from ui.state import session
        from ui.state.frame_slots import set_frame_slots

        session.begin()
        menu = st.container()
        slot = SimpleNamespace(popover=lambda *_args, **_options: menu)
        menu.open = True  # type: ignore[attr-defined]  # what a popover says of itself
        set_frame_slots(SimpleNamespace(tables=slot))  # type: ignore[arg-type]
        values = np.array([[0.25, np.nan], [1.0, 1e-9]])
        labels = {0: "_x_", 1: "<b>"}
        tables.show_tables(lambda: {"L0H0": labelled(values, labels, labels)})

    app = AppTest.from_function(script, default_timeout=60).run()
    assert not app.exception
    table = app.table[0].value
    assert list(table.index) == list(table.columns) == ["0 \\_x\\_", "1 \\<b\\>"]
    assert table.to_numpy().tolist() == [["0.25", ""], ["1", "1e−9"]]


def test_what_is_covered_is_said_where_the_tables_would_stand():
    def script() -> None:
        from types import SimpleNamespace

        import streamlit as st

        from ui.shared import tables
        from ui.state import session
        from ui.state.frame_slots import set_frame_slots

        session.begin()
        menu = st.container()
        menu.open = True  # type: ignore[attr-defined]
        places = SimpleNamespace(tables=SimpleNamespace(popover=lambda *_args, **_options: menu))
        set_frame_slots(places)  # type: ignore[arg-type]
        tables.show_tables(lambda: {"A": 1 / 0}, "Covered.")

    app = AppTest.from_function(script, default_timeout=60).run()
    assert not app.exception
    assert [caption.value for caption in app.caption] == ["Covered."]
    assert not app.table
