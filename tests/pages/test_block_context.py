"""One word in two texts on the page The block: the library's own numbers, examples, and what does not fit."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.two_contexts import PAIRS, word_paths
from jobs.second_text import PAIRS as SUGGESTED
from tests.pages.expected import capture
from tests.ui.driving import html, open_app, sentences
from tests.ui.taken import offers, ran
from ui.state.url_state import DEFAULT_TEXT

PAGE = "pages/block/page.py"
VIEW = {"block.view": "context"}
FRUIT = PAIRS["en"][0]


def lines(app):
    """The series of each chart: [(x, y), …]."""
    return [[(one["x"], one["y"]) for one in json.loads(chart.proto.spec)["data"]] for chart in app.get("plotly_chart")]


def test_it_opens_with_the_suggested_text_and_the_words_that_tell_both_apart(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, query="7", **VIEW)
    words = (" squirrel", " book")
    own = word_paths(capture(), capture(SUGGESTED[DEFAULT_TEXT]), (7, 7), tuple(map(capture, words)))
    alike, plane = lines(app)
    np.testing.assert_allclose(alike[0][1], own.alike, atol=1e-6)
    np.testing.assert_allclose(alike[1][1], own.others, atol=1e-6)
    np.testing.assert_allclose(np.transpose(plane[0]), own.first, atol=1e-6)
    np.testing.assert_allclose(np.transpose(plane[1]), own.second, atol=1e-6)
    paths = ran(taken[-1].snippet)["paths"]
    np.testing.assert_allclose(paths.second, own.second, atol=1e-6)
    np.testing.assert_allclose(taken[-1].arrays["alike"], own.alike, atol=1e-6)
    assert not sentences(app)
    assert "<mark>·it</mark>" in html(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_beside_an_examples_text_it_opens_on_a_pair_whose_word_moves_and_the_address_stays(monkeypatch, lang: str):
    taken, pair = offers(monkeypatch), PAIRS[lang][0]
    app = open_app(page=PAGE, lang=lang, **VIEW)
    asked = dict(app.query_params)
    first, second = capture(pair.first), capture(pair.second)
    places = len(first.tokens) - 1, len(second.tokens) - 1
    words = tuple(capture(word if lang == "zh" else f" {word}") for word in pair.words)
    expected = word_paths(first, second, places, words)
    alike, plane = lines(app)
    np.testing.assert_allclose(alike[0][1], expected.alike, atol=1e-6)
    np.testing.assert_allclose(np.transpose(plane[0]), expected.first, atol=1e-6)
    assert f"<mark>{first.tokens[-1].text}</mark>" in html(app)
    assert "block.second" not in asked
    assert asked.get("text", [DEFAULT_TEXT]) in (DEFAULT_TEXT, [DEFAULT_TEXT])
    np.testing.assert_allclose(ran(taken[-1].snippet)["paths"].alike, expected.alike, atol=1e-6)
    assert not sentences(app)


@pytest.mark.parametrize(
    "address", [{"query": "6"}, {"text": "The dog chased the squirrel because he"}, {"block.second": "A dog or it"}]
)
def test_what_the_reader_chose_is_read_in_the_place_of_the_pair(address: dict[str, str]):
    app = open_app(page=PAGE, **VIEW, **address)
    assert "apple" not in html(app)
    assert "this text" in html(app)


def test_a_word_typed_beside_the_pair_keeps_the_pair_and_the_address_has_it():
    app = open_app(page=PAGE, **VIEW)
    (box,) = [one for one in app.text_input if one.key.startswith("block.across")]
    assert box.value == FRUIT.words[0]
    box.set_value("food").run()
    assert app.query_params["text"] == FRUIT.first
    assert app.query_params["block.second"] == FRUIT.second
    assert (app.query_params["block.across"], app.query_params["block.up"]) == ("food", FRUIT.words[1])
    assert "·apple" in html(app)
    assert not sentences(app)


def test_an_example_opens_both_sentences_at_the_word_they_share():
    app = open_app(page=PAGE, query="3", **VIEW)
    app.button(key="context_pair_0").click().run()
    assert app.query_params["text"] == FRUIT.first
    assert app.query_params["block.second"] == FRUIT.second
    first, second = capture(FRUIT.first), capture(FRUIT.second)
    places = len(first.tokens) - 1, len(second.tokens) - 1
    expected = word_paths(first, second, places, None).alike
    np.testing.assert_allclose(lines(app)[0][0][1], expected, atol=1e-6)
    assert f"“<bdi>apple</bdi>” in two texts: cosine {expected[-1]:.2f} after the last layer" in html(app)


@pytest.mark.parametrize(
    "address, sentence, charts",
    [
        ({"block.second": ""}, "Type a second text that has the chosen token too.", 0),
        ({"block.second": "A dog"}, "“it” is not in the second text.", 0),
        ({"block.second": DEFAULT_TEXT}, "Type two words", 1),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_what_was_typed_stays(address, sentence, charts):
    app = open_app(page=PAGE, query="7", **VIEW, **address)
    said = sentences(app)
    assert len(said) == 1
    assert sentence in said[0].replace("\\", "")
    assert len(lines(app)) == charts
    (box,) = [one for one in app.text_input if one.key.startswith("block.second")]
    assert box.value == address["block.second"]


@pytest.mark.parametrize("attention, charts", [("encoder", 2), ("cross", 1)])
def test_of_a_translator_words_are_read_by_the_encoder_alone(attention: str, charts: int):
    text = {"text": "The dog chased the cat.", "block.second": "The dog chased the boy."}
    app = open_app(page=PAGE, model="translator", attention=attention, **VIEW, **text)
    assert not sentences(app)
    assert len(lines(app)) == charts
