"""The view "edit" of Edit heads: what cannot be is one sentence, and the list stays to be mended."""

from __future__ import annotations

import numpy as np
import pytest

from model_runner.edit_text import read, written
from model_runner.edits import ScaledHead
from pages.edit_heads.edit_controls import cells_in
from tests.model_runner.cases import FAMILY
from tests.pages.edit_driving import HERE, PAGE, add, chips, drop, expected_map, maps
from tests.pages.expected import ROUNDING
from tests.ui.driving import html, open_app, sentences

pytestmark = pytest.mark.table  # its tests take a second each


@pytest.mark.parametrize(
    "edits, sentence, left",
    [
        ("ScaledHead(3,1,0.0);MeanHead(3,1)", "Two changes of L3H1 contradict each other. Undo one of them.", 2),
        ("SwappedHeads(3,1,2);ScaledHead(3,2,0.0)", "Two changes of L3H2 contradict each other.", 2),
        ("ScaledHead(99,1,0.0)", "There is no layer 99", 1),
        ("ScaledHead(3,99,0.0)", "There is no head 99", 1),
        ("Blocked(((99,0),),(3,),(1,))", "There is no position 99: this model and text have 8, counted from 0.", 1),
    ],
)
def test_edits_that_cannot_be_made_together_leave_the_list_to_be_mended(edits, sentence, left):
    app = open_app(page=PAGE, edits=edits, **HERE)
    assert len(sentences(app)) == 1
    assert sentence in sentences(app)[0]
    assert len(chips(app)) == left
    np.testing.assert_allclose(maps(app)[0], expected_map(), atol=ROUNDING)
    drop(app, left - 1)
    assert sentences(app) == []
    assert len(maps(app)) == 3


@pytest.mark.parametrize("nonsense", ["what", "ScaledHead(1)", "Blocked((),None,None)", "SharpenedHead(3,1,0.0)", ";("])
def test_what_is_no_edit_in_the_address_is_said_and_the_others_stay(nonsense):
    app = open_app(page=PAGE, edits=f"MeanHead(2,2);{nonsense};ScaledHead(3,1,0.0)", **HERE)
    assert len(sentences(app)) == 1
    assert sentences(app)[0].startswith("This change cannot be made")
    assert chips(app) == ["L2H2 = its mean", "L3H1 ablated"]
    assert app.query_params["edits"] == "MeanHead(2,2);ScaledHead(3,1,0.0)"
    assert len(maps(app)) == 3


@pytest.mark.parametrize(
    "typed, sentence",
    [
        ("", "This change cannot be made: no cell is chosen."),
        ("seven", "This change cannot be made: “seven” is not a list of pairs of query and key, such as 7, 2; 7, 3."),
        ("99, 1", "There is no position 99: this model and text have 8, counted from 0."),
        ("1, 7", "This change cannot be made: token 1 does not see token 7 anyway."),
    ],
)
def test_cells_that_cannot_be_hidden_are_one_sentence_and_the_list_stays(typed, sentence):
    app = open_app(page=PAGE, edit="block", edits=written((ScaledHead(2, 2, 0.0),)), **HERE)
    app.text_input(key="edit_heads.cells").set_value(typed)
    add(app)
    assert sentences(app) == [sentence]
    assert app.query_params.get("edit_heads.cells", "") == typed
    assert chips(app) == ["L2H2 ablated"]
    assert len(maps(app)) == 3


def test_a_full_list_takes_no_more_but_other_values():
    edits = tuple(ScaledHead(layer, head, 0.5) for layer in range(5) for head in range(8))
    app = add(open_app(page=PAGE, edit="sharpen", edits=written(edits), **HERE))
    assert sentences(app) == ["This change cannot be made: the list holds 40 changes already."]
    assert read(app.query_params["edits"]) == edits
    app = add(open_app(page=PAGE, edits=written(edits), **HERE))
    assert sentences(app) == []
    assert ScaledHead(3, 1, 0.0) in read(app.query_params["edits"])


@pytest.mark.parametrize(
    "part, sentence",
    [
        ({"edit": "sharpen", "edit_sharpen": "abc"}, "“abc” is not a number for temperature."),
        ({"edit": "sharpen", "edit_sharpen": "99"}, "The temperature is 99.0; it may be at most 4.0."),
        ({"edit": "sharpen", "edit_sharpen": "nan"}, "“nan” is not a number for temperature."),
        ({"edit": "zzz"}, "“zzz” is not an option for change."),
        ({"heads": "zzz"}, "“zzz” is not an option for view."),
        ({"edit": "swap", "edit_other": "8"}, "There is no head 8: this model and text have 8, counted from 0."),
    ],
)
def test_what_no_control_holds_is_said_and_replaced_by_the_usual(part, sentence):
    app = open_app(page=PAGE, **part, **HERE)
    assert sentences(app) == [sentence]
    assert len(maps(app)) == 3
    app.run()
    assert not [name for name in app.query_params if name != "edit_heads.change" and name.startswith("edit_heads.")]


@pytest.mark.parametrize(
    "text, cells",
    [
        ("7, 2", ((7, 2),)),
        ("7,2; 7,3", ((7, 2), (7, 3))),
        ("(7, 2), (6, 1)", ((7, 2), (6, 1))),
        ("7.2 6.1", ((7, 2), (6, 1))),
        ("7→2", ((7, 2),)),
        ("7\uff0c2\uff1b\uff087\uff0c3\uff09", ((7, 2), (7, 3))),  # as a Chinese keyboard has them
        ("", ()),
        ("  ", ()),
        ("7", None),
        ("7, 2; x", None),
        ("-7, 2", None),
        ("7, 2, 3", None),
        ("9999999, 1", None),
    ],
)
def test_cells_are_typed_as_pairs(text, cells):
    assert cells_in(text) == cells


@pytest.mark.long  # test_cell.py and test_masks.py have such a model too
def test_a_layer_without_softmax_attention_is_one_sentence(folder_of):
    without = next(layer for layer, kind in enumerate(FAMILY["jamba"].kinds) if kind != "full")
    app = open_app(page=PAGE, model=folder_of("jamba"), text="some text", edits=f"ScaledHead({without},0,0.0)")
    assert len(sentences(app)) == 1
    assert f"Layer {without} has no softmax attention" in sentences(app)[0]
    assert len(chips(app)) == 1
    drop(app, 0)
    add(app)
    assert sentences(app) == []
    assert len(maps(app)) == 3


def test_an_encoder_is_changed_but_not_continued(folder_of):
    app = add(open_app(page=PAGE, model=folder_of("bert"), text="some text"))
    assert sentences(app) == []
    assert "cannot continue a text" in html(app)
    assert len(maps(app)) == 3


def test_a_change_that_cannot_be_made_is_not_offered_to_every_page_and_can_be_taken_from_them(folder_of):
    soft_capped = {"model": folder_of("gemma2"), "edits": "SharpenedHead(1,2,0.5)"}
    app = open_app(page=PAGE, **soft_capped)
    assert sentences(app)[0].startswith("This change cannot be made")
    assert [one.label for one in app.toggle] == []
    app = open_app(page=PAGE, **soft_capped, everywhere="1")
    app.toggle[0].set_value(False).run()
    assert "everywhere" not in app.query_params
    assert [one.label for one in open_app(page=PAGE, edits="SharpenedHead(1,2,0.5)").toggle] == ["use on every page"]
