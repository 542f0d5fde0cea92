"""All streams side by side on the page The block: what is drawn, what is measured, and what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.stream_links import link_shares, needed_streams
from tests.pages.expected import capture, runner
from tests.pages.shown import complete, words
from tests.ui.driving import components, open_app, payload, send, sentences
from tests.ui.taken import offers, ran

PAGE = "pages/block/page.py"
VIEW = {"block.view": "streams"}


def test_what_the_next_token_needs_is_counted_drawn_and_measured(monkeypatch):
    taken = offers(monkeypatch)
    app = complete(open_app(page=PAGE, **VIEW, **{"block.streams": "needed", "block.least": "30"}))
    needed, links = needed_streams(link_shares(capture()), 0.3)
    assert f"needs {needed.sum()} of {needed.size} streams" in words(app)
    measured = payload(app, "layer_head_map")[1]["values"]
    assert measured.shape == (8, 8)
    lines = ran(taken[-1].snippet)
    np.testing.assert_array_equal(lines["needed"], needed)
    assert lines["links"] == links
    np.testing.assert_allclose(measured, lines["changes"], atol=1e-5)
    np.testing.assert_allclose(taken[-1].arrays["changes"], lines["changes"], atol=1e-5)
    assert taken[-1].svg.count("<circle") == needed.size
    outside = np.where(needed[:-1], 0, measured)
    assert f"{outside.flat[np.abs(outside).argmax()]:+.3f}".replace("-", "−") in words(app)
    assert not sentences(app)


def test_a_click_in_the_measured_map_pins_the_token():
    app = complete(open_app(page=PAGE, **VIEW, **{"block.streams": "needed"}))
    send(app, "layer_head_map", "head", [3, 5])
    assert app.query_params["query"] == "5"


@pytest.mark.parametrize(
    "shown, said", [("all", "8 streams run through 8 layers"), ("cache", "only the column of “it” is computed")]
)
def test_without_the_question_nothing_is_measured(shown: str, said: str):
    app = complete(open_app(page=PAGE, **VIEW, **{"block.streams": shown, "block.links": "head"}))
    assert said in words(app)
    assert "layer_head_map" not in components(app)


@pytest.mark.parametrize(
    "address, sentence",
    [
        ({"model": "translator", "text": "A dog sleeps."}, "follows a causal model"),
        ({"text": "word " * 80}, "room for 64 streams"),
    ],
)
def test_what_has_no_such_picture_is_one_sentence(address: dict[str, str], sentence: str):
    app = open_app(page=PAGE, **VIEW, **address)
    assert any(sentence in one for one in sentences(app))


def test_the_last_stream_is_needed_from_the_first_row_on():
    assert needed_streams(link_shares(capture()), 1.1)[0][:, -1].all()
    assert runner().info.n_layers == 8
