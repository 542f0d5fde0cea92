"""On every page a class can be asked where a token looks, and is asked it of what that page shows."""

from __future__ import annotations

import pytest

from pages.entries import ENTRIES
from tests.pages.expected import capture
from tests.pages.test_class_questions import open_room
from tests.ui.driving import components, html, sentences

pytestmark = pytest.mark.table

TEXT = "one two three one two three one two"
LAYER, HEAD, QUERY = 6, 4, 5
BESIDE = {"glossary", "room_link", "theme_switch"}  # what stands on every page


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.file)
def test_a_class_is_asked_on_every_page_where_a_token_looks_in_the_head_that_is_open_there(entry):
    place = {"layer": str(LAYER), "head": str(HEAD), "query": str(QUERY)}
    app, room = open_room(page=entry.file, text=TEXT, **place)
    app.button(key="ask_where").click().run()
    assert sentences(app) == []
    asked, tokens = room.poll.question, capture(TEXT).tokens
    assert asked.words == f"Where does “{tokens[QUERY].text}” (position {QUERY}) look, in head L{LAYER}H{HEAD}?"
    assert asked.text == TEXT
    row = capture(TEXT).weights(LAYER, HEAD)[QUERY, : QUERY + 1].tolist()
    assert asked.probability is not None
    assert [asked.probability(str(key)) for key in range(QUERY + 1)] == pytest.approx(row, abs=1e-5)
    assert asked.words in html(app)
    assert set(components(app)) <= BESIDE
    app.button(key="drop_poll").click().run()
    assert room.poll is None
    assert not set(components(app)) <= BESIDE  # the page is there again


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.file)
def test_on_a_page_as_it_opens_the_question_is_of_the_text_in_its_box_and_of_its_last_token(entry):
    app, room = open_room(page=entry.file)
    app.button(key="ask_where").click().run()
    assert sentences(app) == []
    text = app.text_area(key="text_box").value
    assert room.poll.question.text == text
    last = capture(text).tokens[-1].text
    assert room.poll.question.words.startswith(f"Where does “{last}” (position {len(capture(text).tokens) - 1}) look")
