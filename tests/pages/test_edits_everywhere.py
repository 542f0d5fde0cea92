"""Edits of heads that are carried over every page: each shows the changed model, says so, and gives it up again."""

from __future__ import annotations

import numpy as np
import pytest

from model_runner import CaptureRequest, GenerateRequest
from model_runner.edit_text import written
from model_runner.edit_words import edit_name
from model_runner.edits import Blocked, Masked, ScaledHead
from pages.entries import ENTRIES
from tests.pages.expected import ROUNDING, masked, runner, weights
from tests.pages.test_film import more
from tests.pages.test_film import tokens as film_tokens
from tests.ui.driving import html, open_app, payload, sentences
from ui.state.url_state import DEFAULT_TEXT

EDITS = (Blocked(((7, 0), (7, 3)), (3,), (7,)), ScaledHead(2, 1, 0.0))
CARRIED = {"edits": written(EDITS), "everywhere": "1"}
HERE = {"layer": "3", "head": "7"}
OWN = (
    "pages/masks/page.py",
    "pages/kv_cache/page.py",
    "pages/sharing/page.py",
    "pages/edit_heads/page.py",
    "pages/families/page.py",
)  # compare by themselves


def changed(text: str = DEFAULT_TEXT):
    return runner().capture(CaptureRequest(text=text, edits=EDITS))


def test_heads_show_the_changed_model_and_the_sidebar_says_so_until_it_is_undone():
    app = open_app(**HERE, **CARRIED)
    exact = changed().weights(3, 7).numpy()
    assert np.abs(exact - weights(3, 7)).max() > 0.01
    shown = np.nan_to_num(payload(app, "head_map")[1]["values"])
    np.testing.assert_allclose(shown, exact, atol=ROUNDING)
    assert "changed by 2 edits" in html(app)
    app.button(key="drop_edits").click().run()
    np.testing.assert_allclose(payload(app, "head_map")[1]["values"], masked(weights(3, 7)), atol=ROUNDING)
    assert "changed by" not in html(app)
    assert app.query_params["edits"] == CARRIED["edits"], "the list itself is kept"
    assert "everywhere" not in app.query_params


@pytest.mark.parametrize("page", [entry.file for entry in ENTRIES])
def test_every_page_opens_with_the_changed_model_or_says_that_it_begins_without_it(page: str):
    app = open_app(page=page, **HERE, **CARRIED)
    said = "begins with the model as it is" in html(app)
    assert said == (page in OWN)


def test_the_film_is_the_changed_model_s():
    edits = tuple(ScaledHead(0, head, 0.0) for head in range(8))
    address = {"edits": written(edits), "everywhere": "1", "temperature": "0"}
    app = more(open_app(page="pages/film/page.py", **address), 3)
    plain, exact = (
        [step.token.id for step in runner().generate(GenerateRequest(DEFAULT_TEXT, len(film_tokens(app)), edits=one))]
        for one in ((), edits)
    )
    assert film_tokens(app) == exact != plain


def test_the_other_pages_show_the_changed_model_s_numbers_too():
    edits = (ScaledHead(7, 1, 0.0), ScaledHead(3, 7, 2.0))
    address = {"edits": written(edits), "everywhere": "1"}
    exact = runner().capture(CaptureRequest(text=DEFAULT_TEXT, edits=edits)).logits(-1)
    assert (exact - runner().capture(CaptureRequest(text=DEFAULT_TEXT)).logits(-1)).abs().max() > 0.01
    app = open_app(page="pages/next_token/page.py", **address)
    np.testing.assert_allclose(payload(app, "sampling_bench")[1]["logits"], exact.numpy(), atol=1e-4)


def test_a_pattern_that_looks_ahead_shows_in_heads_and_is_named_where_a_text_goes_on():
    address = {"edits": written((Masked("prefix", (("length", 16),)),)), "everywhere": "1"}
    open_app(**address)
    for page in ("pages/film/page.py", "pages/next_token/page.py"):
        app = open_app(page=page, **address)
        assert any("tokens see later ones" in sentence for sentence in sentences(app)), page


def test_hidden_cells_beyond_the_text_are_told():
    app = open_app(edits="Blocked(((90,0),),(1,),(0,))", everywhere="1")
    assert any("90" in sentence for sentence in sentences(app))
    assert payload(app, "head_map")[0]["row_labels"], "the page is there all the same"


def test_a_change_that_is_carried_joins_the_edits_that_were_collected():
    app = open_app(page="pages/sharing/page.py", kv_heads="1", edits="ScaledHead(3,1,0.0);SharedKeys(2)")
    app.toggle(key="everywhere").set_value(True).run()
    assert app.query_params["edits"] == "ScaledHead(3,1,0.0);SharedKeys(1)"


def test_what_is_no_edit_is_told_and_left_out_and_the_others_are_made():
    app = open_app(edits="nonsense;ScaledHead(3,1,0.0)", everywhere="1")
    assert sentences(app) == ["This change cannot be made: “nonsense” in the link is not an edit."]
    assert app.query_params["edits"] == "ScaledHead(3,1,0.0)"
    assert "changed: L3H1 ablated" in html(app)


def test_beside_the_badge_stands_which_edit_it_is_and_the_way_back():
    app = open_app(edits="ScaledHead(3,1,0.0);MeanHead(2,2)", everywhere="1")
    badge = next(element.proto.body for element in app.get("html") if "atlas-badge changed" in element.proto.body)
    assert "changed: L3H1 ablated + 1" in badge
    assert "L2H2 = its mean" in badge  # in full where it is pointed at
    app.button(key="undo_edits").click().run()
    assert "atlas-badge changed'" not in html(app)
    assert app.query_params["edits"] == "ScaledHead(3,1,0.0);MeanHead(2,2)"  # the list stays


def test_edits_that_cannot_be_made_are_one_sentence_and_can_be_undone():
    app = open_app(edits="ScaledHead(99,0,0.0)", everywhere="1")
    assert not app.exception
    assert len(app.warning) == 1
    app.button(key="drop_edits").click().run()
    np.testing.assert_allclose(payload(app, "head_grid")[1]["thumbnails"].shape, (8, 8, 8, 8))


@pytest.mark.parametrize(
    "page, address, edit",
    [
        ("pages/masks/page.py", {"masks": "model", "mask": "window", "mask_window": "2"}, "Masked('window',"),
        ("pages/sharing/page.py", {"kv_heads": "1"}, "SharedKeys(1)"),
        ("pages/kv_cache/page.py", {"kv": "what_if", "drop": "last", "keep": "3"}, "KeepLast(3,0)"),
    ],
)
def test_what_a_page_changed_can_be_carried_over_every_page(page: str, address: dict[str, str], edit: str):
    app = open_app(page=page, **address)
    app.toggle(key="everywhere").set_value(True).run()
    assert app.query_params["edits"].startswith(edit)
    assert "changed by 1 edit" in html(app)
    assert "Other pages show the model changed like this now." in html(app), "where it was asked for"
    app = open_app(**{**app.query_params, **HERE})
    shown = np.nan_to_num(payload(app, "head_map")[1]["values"])
    assert np.abs(shown - weights(3, 7)).max() > 0.01


def test_what_a_change_takes_along_from_the_list_is_said_before_it_is_used():
    address = {"masks.view": "model", "edits": written((ScaledHead(2, 1, 0.0),)), **HERE}
    app = open_app(page="pages/masks/page.py", **address)
    words = f"together with what is in the list: {edit_name(ScaledHead(2, 1, 0.0), str)}"
    assert words in html(app)
    assert "together with" not in html(open_app(page="pages/masks/page.py", **{"masks.view": "model"}, **HERE))
    app.toggle(key="everywhere").set_value(True).run()
    assert len(app.query_params["edits"].split(";")) == 2
    assert f"Other pages show the model changed like this now, {words}" in html(app)
