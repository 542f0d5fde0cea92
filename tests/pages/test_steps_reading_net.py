"""The open text read by a recurrent net beside attention's one step, on the page Step by step."""

from __future__ import annotations

import json

import numpy as np
import pytest

from attention.sentence_rnn import read_sentence
from tests.pages.expected import capture
from tests.pages.shown import words
from tests.ui.driving import open_app, sentences
from tests.ui.taken import offers, ran

PAGE = "pages/steps/page.py"
VIEW = {"steps.view": "others", "steps.others": "reading", "layer": "6", "head": "4"}


@pytest.mark.parametrize("query, gain", [(7, "0.7"), (4, "1.4"), (0, "1")])
def test_what_arrives_of_each_token_is_the_nets_reach_and_the_heads_weight(monkeypatch, query: int, gain: str):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, query=str(query), **{"steps.gain": gain})
    reach = read_sentence(capture().residual(0)[: query + 1], float(gain)).reach.numpy()
    (chart,) = (json.loads(one.proto.spec)["data"] for one in app.get("plotly_chart"))
    np.testing.assert_allclose(chart[0]["y"], reach[::-1])
    weights = capture().weights(6, 4)[query, : query + 1].numpy()
    np.testing.assert_allclose(chart[1]["y"], weights[::-1], atol=1e-5)
    assert f"Recurrent net: {query + 1} steps" in words(app)
    lines = ran(taken[-1].snippet)
    np.testing.assert_allclose(lines["reading"].reach, reach)
    np.testing.assert_allclose(taken[-1].arrays["weights"], lines["weights"], atol=1e-5)


def test_of_a_long_text_the_last_tokens_are_read_and_of_two_texts_a_sentence_says_why_not():
    app = open_app(page=PAGE, **VIEW, text="The dog ran and ran and ran and ran and ran to the old house")
    assert "Recurrent net: 12 steps" in words(app)
    app = open_app(page=PAGE, **VIEW | {"layer": "0", "head": "0"}, model="translator", text="A dog sleeps.")
    assert len(sentences(app)) == 1
