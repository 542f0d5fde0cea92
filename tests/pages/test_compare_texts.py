"""The page Compare with two texts: what is taken away has the numbers of both sides' own tokens."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pages.expected import capture
from tests.pages.test_compare import PAGE, maps, same
from tests.ui.driving import html, open_app
from tests.ui.taken import offers, ran
from ui.shared import export_bundle
from ui.shared.export_bundle import ExportBundle


@pytest.mark.parametrize("view", ["next", "tokens"])
def test_no_head_is_chosen_where_none_is_compared_and_the_chosen_one_waits(view):
    app = open_app(page=PAGE, **{"compare.head": "L2H1", "compare.view": view})
    assert not [box for box in app.selectbox if box.key == "compare.head"]
    assert app.query_params["compare.head"] == "L2H1"


@pytest.mark.parametrize(
    "text, index, columns",
    [
        ("The big dog chased it", ["0 ⟨bos⟩", "1 The", "A2 B3 ·dog"], ["0 ⟨bos⟩", "1 The", "2 ·big", "3 ·dog"]),
        ("猫", ["0 ⟨bos⟩", "A1 The", "A2 ·dog"], ["0 ⟨bos⟩", "1 猫"]),
    ],
)
def test_tokens_of_both_texts_keep_their_own_numbers_in_tables_and_files(monkeypatch, text, index, columns):
    shown: list[ExportBundle] = []
    monkeypatch.setattr(export_bundle, "show_file_menu", lambda _opened, one: shown.append(one))
    open_app(page=PAGE, layer="6", head="4", **{"compare.text": text})
    tables, make = shown[-1].tables(), shown[-1].rows
    assert make is not None
    rows = make()
    a, b = (next(table for name, table in tables.items() if name.startswith(f"{side} ·")) for side in "AB")
    assert list(a.index) == [f"{at} {token.text}" for at, token in enumerate(capture().tokens)]
    assert list(b.columns)[: len(columns)] == columns
    assert list(rows.index)[: len(index)] == index
    assert rows.index.is_unique
    same(rows.loc["0 ⟨bos⟩"].dropna(), np.ones(rows.loc["0 ⟨bos⟩"].notna().sum()) * [1, 1, 0][: len(tables)])


def test_two_texts_without_a_common_word_are_still_two_maps_to_take_away(monkeypatch):
    offered = offers(monkeypatch)
    app = open_app(page=PAGE, layer="6", head="4", **{"compare.text": "猫"})
    assert "third map" not in html(app)
    assert len(maps(app)) == 2
    assert offered[-1].svg.count("<svg") >= 1
    assert offered[-1].html
    names = ran(offered[-1].snippet)
    same(names["b"], maps(app)[1][1])
