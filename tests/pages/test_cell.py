"""The page Inside a cell: its numbers are the capture's, wherever the address points."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from analysis.cell import Push, cell
from model_runner.edit_text import written
from model_runner.edits import ScaledHead
from model_runner.python_lines import python_start
from pages.cell.export import snippet
from pages.cell.steps import formula
from tests.pages.expected import capture, runner
from tests.pages.visiting import visit
from tests.ui.driving import open_app, payload, send, sentences, type_text
from tests.ui.taken import ran

PAGE = "pages/cell/page.py"
LAST = 7  # of the default text's eight tokens


def test_the_steps_carry_the_captures_own_numbers():
    app = open_app(page=PAGE, layer="3", head="2", query="5", key="1")
    meta, arrays = payload(app, "cell_steps")
    assert (meta["head"], meta["query"][1], meta["key"]) == ("L3H2", 5, 1)
    assert meta["labels"] == [token.text for token in capture().tokens]
    assert meta["shared"] == ["L3H2", "L3H3"]
    assert arrays["positions"].tolist() == list(range(8))
    np.testing.assert_array_equal(arrays["q"], capture().q(3)[2, 5].numpy())
    np.testing.assert_array_equal(arrays["k"], capture().k(3)[1].numpy())
    np.testing.assert_array_equal(arrays["v"], capture().v(3)[1].numpy())
    # float32 against float64 sums of 32 products: rounding of about 1e-5 at scores of size 20
    np.testing.assert_allclose(arrays["weights"], capture().weights(3, 2)[5].numpy(), atol=1e-4)
    np.testing.assert_allclose(arrays["dots"][1] * meta["scale"], float(capture().scores(3, 2)[5, 1]), atol=1e-4)
    np.testing.assert_allclose(arrays["mixed"], capture().record(3).output[5, 2].numpy(), atol=1e-4)
    push = capture().direct_logits(3, 2, 5)
    assert meta["push"]["promoted"][0][1] == pytest.approx(float(push.max()), abs=1e-5)
    assert meta["push"]["promoted"][0][0] == runner().token_text(int(push.argmax()))


def test_without_an_address_it_shows_the_last_token_and_the_key_it_looks_at_most():
    app = open_app(page=PAGE)
    meta, arrays = payload(app, "cell_steps")
    assert meta["query"] == ["·it", LAST]
    assert meta["key"] == int(arrays["weights"].argmax())
    strip, _ = payload(app, "token_strip")
    assert re.fullmatch(
        r"Shade: how much of the attention of “.+” in L\d+H\d+ each token gets", strip["texts"]["shade"]
    )
    assert (strip["selected"], strip["looked_at"]) == (LAST, meta["key"])


def test_a_key_sent_by_the_picture_is_shown_and_none_gives_the_strongest_back():
    app = open_app(page=PAGE, layer="3", head="2")
    strongest = payload(app, "cell_steps")[0]["key"]
    other = (strongest + 1) % LAST
    assert payload(send(app, "cell_steps", "key", other), "cell_steps")[0]["key"] == other
    assert app.number_input(key="place_key").value == other
    assert app.query_params["key"] == str(other)
    assert payload(send(app, "cell_steps", "key", None), "cell_steps")[0]["key"] == strongest


def test_the_open_step_is_in_the_address():
    app = send(open_app(page=PAGE, layer="3", head="2"), "cell_steps", "step", 5)
    assert app.query_params["cell.step"] == "5"
    assert payload(open_app(page=PAGE, **app.query_params), "cell_steps")[0]["step"] == 5
    assert "cell.step" not in send(app, "cell_steps", "step", 0).query_params


def test_a_query_sent_by_the_picture_keeps_the_chosen_key():
    app = open_app(page=PAGE, layer="3", head="2", key="1")
    meta, _ = payload(send(app, "cell_steps", "query", 4), "cell_steps")
    assert (meta["query"][1], meta["key"]) == (4, 1)


def test_the_strip_sets_the_query_or_after_the_switch_the_key():
    app = open_app(page=PAGE, layer="3", head="2", key="1")
    assert payload(send(app, "token_strip", "token", 4), "cell_steps")[0]["query"][1] == 4
    app = open_app(page=PAGE, layer="3", head="2", sets="key")  # as addresses had it once
    assert app.button_group(key="cell.sets").value == "key"
    assert payload(app, "token_strip")[0]["sets"] == "key"
    meta, _ = payload(send(app, "token_strip", "token", 4), "cell_steps")
    assert (meta["query"][1], meta["key"]) == (LAST, 4)


def test_the_coordinates_move_the_place():
    app = open_app(page=PAGE, layer="3", head="2")
    send(app, "model_strip", "head", [5, 0, ""])
    app.number_input(key="place_query").set_value(6).run()
    app.number_input(key="place_key").set_value(2).run()
    meta, _ = payload(app, "cell_steps")
    assert (meta["head"], meta["query"][1], meta["key"]) == ("L5H0", 6, 2)
    app.button(key="cell_strongest").click().run()
    meta, arrays = payload(app, "cell_steps")
    assert meta["key"] == int(arrays["weights"].argmax())


def test_a_shorter_text_after_a_far_key_is_shown_without_complaint():
    app = type_text(open_app(page=PAGE, query="7", key="6"), "Hi")
    assert sentences(app) == []
    assert payload(app, "cell_steps")[0]["total"] == len(payload(app, "token_strip")[0]["labels"])


@pytest.mark.long
@pytest.mark.table
def test_a_layer_without_weights_says_so_and_is_not_offered(folder_of):
    app = open_app(page=PAGE, model=folder_of("jamba"), layer="0")
    assert any("Layer 0 has no softmax attention" in shown for shown in sentences(app)), sentences(app)
    assert payload(app, "cell_steps")[0]["head"].startswith("L1H")
    (row,) = payload(app, "model_strip")[0]["rows"]
    given = [row["kinds"][kind]["attentions"] for kind in row["layers"]]
    assert given[0] == [None]
    assert given[1] != [None]


def test_a_model_whose_push_cannot_be_separated_shows_the_other_steps_and_why(folder_of):
    app = open_app(page=PAGE, model=folder_of("gemma2"))
    meta, _ = payload(app, "cell_steps")
    assert "cannot be separated in this model" in meta["push"]
    assert "not simply added to the residual stream" in meta["push"]


def test_the_snippet_gives_the_numbers_of_the_picture():
    found = cell(capture(), 3, 2, 5, 1)
    opened: Any = SimpleNamespace(capture=capture())  # all that the snippet is made from
    names = ran(python_start(opened.capture.request) + snippet(found))
    assert float(names["dot"]) == pytest.approx(found.dot, rel=1e-12)
    np.testing.assert_allclose(names["weights"].numpy(), found.row.weights, atol=1e-5)
    np.testing.assert_allclose(names["output"].numpy(), found.mixed, atol=1e-4)
    assert isinstance(found.push, Push)
    assert float(names["added"].max()) == pytest.approx(found.push.promoted[0][1])


def test_a_carried_edit_leaves_the_output_and_doubles_what_is_passed_on_and_pushed():
    address = {"layer": "7", "head": "1", "query": "5", "key": "1"}
    plain_meta, plain = payload(open_app(page=PAGE, **address), "cell_steps")
    assert "passed_on" not in plain
    edits = (ScaledHead(7, 1, 2.0),)
    app = open_app(page=PAGE, edits=written(edits), everywhere="1", **address)
    meta, arrays = payload(app, "cell_steps")
    np.testing.assert_allclose(arrays["mixed"], plain["mixed"], atol=1e-5)
    np.testing.assert_allclose(arrays["passed_on"], 2 * plain["mixed"], atol=1e-3)  # the model's own, by another sum
    np.testing.assert_array_equal(arrays["passed_on"], capture(edits=edits).record(7).head_output_edited[5, 1].numpy())
    # Twice the vector, through a norm held at the changed stream's size.
    stream, changed = (
        one.residuals[-1][5].double().square().mean().sqrt() for one in (capture(), capture(edits=edits))
    )
    assert meta["push"]["promoted"][0][1] == pytest.approx(
        2 * float(stream / changed) * plain_meta["push"]["promoted"][0][1], rel=1e-3
    )
    for one, pushed in ((capture(), "output"), (capture(edits=edits), "passed on")):
        assert formula(cell(one, 7, 1, 5, 1)).endswith(f"push = W_U · norm(W_O · {pushed})")


def test_an_ablated_head_pushes_no_token():
    edits = (ScaledHead(7, 1, 0.0),)
    app = open_app(page=PAGE, layer="7", head="1", edits=written(edits), everywhere="1")
    meta, arrays = payload(app, "cell_steps")
    assert not arrays["passed_on"].any()
    assert arrays["mixed"].any()
    assert meta["push"]["promoted"] == meta["push"]["suppressed"] == []


def test_the_snippet_under_edits_gives_what_is_passed_on():
    edits = (ScaledHead(3, 2, 2.0),)
    found = cell(capture(edits=edits), 3, 2, 5, 1)
    opened: Any = SimpleNamespace(capture=capture(edits=edits))
    names = ran(python_start(opened.capture.request) + snippet(found))
    np.testing.assert_allclose(names["passed_on"].numpy(), 2 * names["output"].numpy(), atol=2e-4)
    assert "passed_on" not in snippet(cell(capture(), 3, 2, 5, 1))


def test_heads_that_an_edit_made_share_their_keys_are_named_as_sharing():
    app = open_app(page=PAGE, layer="3", head="1", edits="SharedKeys(2)", everywhere="1")
    assert payload(app, "cell_steps")[0]["shared"] == ["L3H0", "L3H1", "L3H2", "L3H3"]


@pytest.mark.browser
def test_a_click_on_a_bar_changes_the_weight_and_the_address(server, page):
    visit(page, server, "cell", layer="3", head="2")
    root = page.locator(".cell-steps[data-painted]")
    root.wait_for()
    chosen = root.get_attribute("data-key")
    before = float(root.get_attribute("data-weight"))
    other = next(key for key in "12345" if key != chosen)
    page.locator(f".bar[data-key='{other}']").click()
    expect(root).to_have_attribute("data-key", other)
    assert float(root.get_attribute("data-weight")) < before
    page.wait_for_url(re.compile(f"key={other}"))
    page.locator(f".token-strip [data-position='{other}'].looked-at").wait_for()  # painted when the run has ended


@pytest.mark.parametrize(
    "model, pushed", [("default", "Push on the next token"), ("encoder", "Push on the token at this place")]
)
def test_the_last_step_pushes_what_the_model_predicts(model, pushed):
    assert payload(open_app(page=PAGE, model=model), "cell_steps")[0]["texts"]["push"] == pushed
