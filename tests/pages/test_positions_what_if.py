"""What if, on the page Positions: the edits it makes, and that what it draws is the changed model's."""

from __future__ import annotations

import numpy as np
import pytest

from model_runner import CaptureRequest
from model_runner.edit_text import written
from model_runner.edits import Documents
from model_runner.positions import layout_of
from model_runner.rotation_edit import NtkTheta, RestartedPositions, ScaledTheta, ShiftedPositions, Unrotated
from model_runner.substitution import Substituted
from tests.model_runner.cases import shared_runner
from tests.pages.expected import runner
from tests.ui.driving import components, html, open_app, payload, payloads, sentences

PAGE = "pages/positions/page.py"
TEXT = "The dog chased the squirrel because it"

QUESTIONS = {
    ("off", ""): (Unrotated(),),
    ("off", "layer"): (Substituted("no_positions", (), (2,)),),
    ("off", "head"): (Substituted("no_positions", (), (2,), (1,)),),
    ("theta", "2"): (ScaledTheta(2.0),),
    ("theta", "0.5"): (ScaledTheta(0.5),),
    ("ntk", "4"): (NtkTheta(4.0),),
    ("shift", "100"): (ShiftedPositions(100),),
    ("restart", "4"): (RestartedPositions((4,)),),
    ("documents", "3"): (RestartedPositions((3,)), Documents((3,))),
}


@pytest.mark.parametrize("question, edits", QUESTIONS.items(), ids=["-".join(name) for name in QUESTIONS])
def test_the_maps_are_those_of_the_plain_and_of_the_changed_model(question, edits):
    name, amount = question
    address = {"positions": "what_if", "what_if": name, "layer": "2", "head": "1"}
    address |= {"positions.off" if name == "off" else f"amount_{name}": amount} if amount else {}
    app = open_app(page=PAGE, **address)
    assert sentences(app) == []
    plain, changed = (
        runner().capture(CaptureRequest(text=TEXT, edits=given)).weights(2, 1).numpy() for given in ((), edits)
    )
    drawn = [arrays["values"] for _meta, arrays in payloads(app, "head_map")]
    for found, expected in zip(drawn, (plain, changed, changed - plain), strict=True):
        assert np.nanmax(np.abs(found - expected)) <= 1e-6
    if name == "shift":
        assert np.abs(plain - changed).max() < 1e-4
    else:
        assert np.abs(plain - changed).max() > 0.01
    assert "KL" in html(app)


@pytest.mark.parametrize("question", ["restart", "documents"])
def test_a_text_is_cut_in_its_middle_and_a_token_beyond_it_is_said(question):
    app = open_app(page=PAGE, positions="what_if", what_if=question)
    assert app.selectbox(key=f"positions.{question}").value == 4
    app = open_app(page=PAGE, positions="what_if", what_if=question, **{f"amount_{question}": "8"})
    assert sentences(app) == ["Position 8 is beyond the text, which ends at 7."]
    assert app.selectbox(key=f"positions.{question}").value == 4
    assert f"positions.{question}" not in app.query_params


def test_an_amount_that_is_none_of_the_list_is_said():
    app = open_app(page=PAGE, positions="what_if", what_if="ntk", amount_ntk="3")
    assert sentences(app) == ["“3” is not an option for amount."]
    assert app.selectbox(key="positions.ntk").value == "2"


def test_a_model_without_rotation_shows_the_others_instead(folder_of):
    app = open_app(page=PAGE, positions="what_if", model=folder_of("gpt2"))
    assert any("rotat" in text for text in sentences(app))
    assert "head_map" not in components(app)


def test_that_a_rotation_that_is_left_out_leaves_its_stretch_is_said(folder_of):
    address = {"positions.view": "what_if", "positions.what_if": "off"}
    app = open_app(page=PAGE, model=folder_of("llama-yarn"), text="some text", **address)
    factor = layout_of(shared_runner("llama-yarn").capture(CaptureRequest("some text")), 0).factor
    assert f"Their stretch by {factor:.4g} stays." in html(app)
    assert "Their stretch by" not in html(open_app(page=PAGE, **address))


def test_that_a_shift_changes_no_score_is_not_said_of_heads_that_have_none():
    address = {"positions.view": "what_if", "positions.what_if": "shift", "layer": "2", "head": "1"}
    words = "Heads whose softmax is substituted have no such scores: they can change, and so can the layers above."
    assert words not in html(open_app(page=PAGE, **address))
    edits = written((Substituted("performer"),))
    assert words in html(open_app(page=PAGE, **address, edits=edits, everywhere="1"))


def test_against_distance_stands_the_open_head_where_another_of_its_layer_has_no_softmax():
    address = {
        "positions.view": "distance",
        "layer": "2",
        "edits": written((Substituted("performer", (), (2,), (0,)),)),
    }
    app = open_app(page=PAGE, head="1", everywhere="1", **address)
    assert sentences(app) == []
    scores = payload(app, "score_sweep")[1]["scores"]
    assert np.isnan(scores[0]).all()
    assert np.isfinite(scores[1:]).all()
    app = open_app(page=PAGE, head="0", everywhere="1", **address)
    assert "L2H0 has no softmax scores here" in sentences(app)[0]
