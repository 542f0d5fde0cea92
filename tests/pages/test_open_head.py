"""The open head: which a page picks where none is asked for, and which is the session's from then on."""

from __future__ import annotations

import re

import numpy as np
import pytest

from analysis.stand_in import NO_SHARES
from model_runner import CaptureRequest
from model_runner.edit_text import written
from model_runner.substitution import Substituted
from tests.pages.expected import ROUNDING, capture, masked, runner
from tests.pages.visiting import CAPITAL
from tests.ui.driving import html, open_app, payload, send, type_text
from viz.share_text import share_digits

PICKED = {"layer": "6", "head": "4"}  # on the default text


def place(app):
    return {name: app.query_params[name] for name in ("layer", "head")}


@pytest.mark.parametrize("page", ["cell", "positions"])
def test_the_strip_moves_from_the_head_that_the_page_picked(page):
    app = open_app(page=f"pages/{page}/page.py")
    assert place(app) == PICKED
    send(app, "model_strip", "head", [6, 2, ""])
    assert place(app) == {"layer": "6", "head": "2"}
    assert payload(app, "model_strip")[0]["open"] == [6, 2, ""]
    send(app, "model_strip", "head", [3, 2, ""])
    assert place(app) == {"layer": "3", "head": "2"}


def test_a_click_on_a_curve_opens_a_head_of_the_layer_that_is_shown():
    app = open_app(page="pages/positions/page.py", positions="distance")
    send(app, "score_sweep", "head", 0)
    meta, _arrays = payload(app, "score_sweep")
    assert (meta["layer"], meta["head"]) == (6, 0)
    assert place(app) == {"layer": "6", "head": "0"}


def test_a_head_that_was_picked_is_picked_anew_for_another_text_and_one_that_was_chosen_stays():
    app = type_text(open_app(), CAPITAL)
    anew = place(app)
    assert anew != PICKED
    send(app, "head_grid", "head", [1, 2])
    type_text(app, "The Shawshank")
    assert place(app) == {"layer": "1", "head": "2"}
    assert place(open_app(text=CAPITAL)) == anew


@pytest.mark.parametrize("edits", ["KeepLast(2,1)", "ScaledHead(6,5,0.0);ScaledHead(4,4,3.0)"])
@pytest.mark.parametrize("page", ["masks", "heads", "cell", "film"])
def test_the_head_that_pages_pick_is_the_same_whether_they_show_the_edited_model_or_not(page, edits):
    app = open_app(page=f"pages/{page}/page.py", edits=edits, everywhere="1")
    assert place(app) == PICKED


def test_of_a_long_text_the_lines_say_what_goes_to_tokens_that_are_not_listed():
    text = "the cat sat on the mat and " * 20
    row = capture(text).weights(4, 5)[-1]
    others = row[:-64]
    said = re.sub("<[^>]*>", "", html(open_app(layer="4", head="5", text=text)))
    name = capture(text).tokens[int(others.argmax())].text
    assert "Showing 64 neighbouring tokens." in said
    assert f"puts {100 * others.sum():.0f} % on others, most of all on {name} ({int(others.argmax())})." in said
    assert "neighbouring tokens" not in html(open_app(layer="4", head="5"))


def test_a_head_of_the_address_stays_with_another_text():
    assert place(type_text(open_app(layer="2", head="2"), CAPITAL)) == {"layer": "2", "head": "2"}


def test_the_film_shows_the_head_that_other_pages_open():
    app = open_app(page="pages/film/page.py")
    assert payload(app, "film")[0]["view"]["head"] == [int(part) for part in place(app).values()]


def test_a_head_without_shares_shows_its_weights_and_says_shares_in_percent():
    edits = (Substituted("sigmoid", (), (3,), (7,)),)
    app = open_app(edits=written(edits), everywhere="1", layer="3", head="7", query="6")
    meta, arrays = payload(app, "head_map")
    made = runner().capture(CaptureRequest(capture().request.text, edits=edits)).weights(3, 7).numpy()
    np.testing.assert_allclose(arrays["values"], masked(made), atol=ROUNDING)
    assert (meta["number"], meta["texts"]["cell"]) == ("plain", "{query} → {key}: weight {value}")
    assert meta["texts"]["note"] == NO_SHARES
    most = int(made[6].argmax())
    share = share_digits(float(made[6, most] / made[6].sum()))
    looked_at = capture().tokens[most].text.strip("·")
    assert f" puts {share} % on <span class='atlas-k'>“<bdi>{looked_at}</bdi>”</span>" in html(app)


@pytest.mark.parametrize("lang, text", [("en", "The cat is behind the dog. It"), ("zh", "牛看见了狗，它")])
def test_an_example_with_one_word_changed_says_what_the_example_does(lang, text):
    app = open_app(lang=lang, text=text)
    shown = html(app)
    word, head = ("oinks", "L5H5") if lang == "en" else ("喵喵叫", "L7H1")
    assert f"<span>{head} · " in shown
    caption = next(body for body in shown.split("\n") if "atlas-how" in body and word in body)
    assert ("<bdi>cat</bdi>" in caption and "<bdi>pig</bdi>" in caption) == (lang == "en")
