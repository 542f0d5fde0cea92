"""Clicks on Edit heads: quick ones count though the page is not drawn between them; a pixel may be several cells."""

from __future__ import annotations

import itertools

import pytest

from model_runner.edit_text import read, written
from model_runner.edits import Blocked, MeanHead, ScaledHead
from tests.pages.edit_driving import HERE, PAGE, chips, drops
from tests.ui.driving import open_app, payloads, send

EDITS = (ScaledHead(3, 1, 0.0), MeanHead(2, 2), Blocked(((5, 0),), (3,), (1,)))


@pytest.fixture
def app():
    return open_app(page=PAGE, edit="block", edits=written(EDITS), **HERE)


def test_two_edits_taken_back_at_once_are_both_gone(app):
    first, second, _third = drops(app)
    first.click()
    second.click()
    app.run()
    assert read(app.query_params["edits"]) == (EDITS[2],)
    assert chips(app) == ["5 → 0 hidden in L3H1"]


def test_a_cell_clicked_while_an_edit_is_taken_back_leaves_it_gone(app):
    drops(app)[1].click()
    app = send(app, "head_map", "press", [7, 1])
    assert read(app.query_params["edits"]) == (EDITS[0], Blocked(((5, 0), (7, 1)), (3,), (1,)))


def test_a_change_added_while_another_is_taken_back_leaves_it_gone():
    app = open_app(page=PAGE, edit="zero", edits=written(EDITS[1:]), **HERE)
    drops(app)[0].click()
    app.button(key="edit_add").click()
    app.run()
    assert set(read(app.query_params["edits"])) == {EDITS[0], EDITS[2]}


def test_a_slider_moved_while_an_edit_is_taken_back_leaves_it_gone():
    app = open_app(page=PAGE, edit="scale", edits=written(EDITS), **HERE)
    drops(app)[1].click()
    app.slider(key="edit_heads.factor").set_value(1.5)
    app.run()
    assert read(app.query_params["edits"]) == (ScaledHead(3, 1, 1.5), EDITS[2])


def test_a_click_on_a_pixel_of_several_cells_hides_them_all():
    app = open_app(page=PAGE, edit="block", layer="3", head="1", text="the dog and " * 120)
    view = payloads(app, "head_map")[0][0]
    assert view["pool"] == [2, 2]
    app = send(app, "head_map", "press", [200, 101])
    cells = tuple(itertools.product((200, 201), (100, 101)))
    assert app.query_params["edits"] == written((Blocked(cells, (3,), (1,)),))
    app = send(app, "head_map", "press", [201, 101])
    assert "edits" not in app.query_params
    app = send(app, "head_map", "press", [200, 200])  # on the diagonal one of the four cells is masked
    assert app.query_params["edits"] == written((Blocked(((200, 200), (201, 200), (201, 201)), (3,), (1,)),))
