"""“Ask first, then show”: a page that may tell the answer waits for its question, on the projector and on phones."""

from __future__ import annotations

import re

from classroom.frames import Vote
from classroom.room import Present
from pages.entries import ENTRIES
from tests.pages.test_class_figures import opened
from tests.pages.test_class_names import sent_to_phones
from tests.ui.driving import button, components, go, html, type_text

TEXT, OTHER = "one two three one two three one two", "The little girl saw a"
NEXT_TOKEN = "pages/next_token/page.py"
BARS = "sampling_bench"


def test_a_page_waits_for_its_question_and_gives_nothing_away_before_the_reveal():
    app, room = opened(text=TEXT)
    app.toggle(key="ask_first").set_value(True).run()
    assert room.board._stage["figures"]  # what is shown already stays
    go(app, NEXT_TOKEN)
    assert BARS not in components(app)
    assert TEXT in html(app)
    stage = room.board._stage
    assert (stage["figures"], stage["text"], stage["address"], stage["page"]) == ([], TEXT, "", "first")
    assert BARS not in sent_to_phones(room)
    app.button(key="first_next").click().run()
    assert room.poll is not None
    assert room.board._stage["address"] == ""
    room.vote(Present("Ada"), Vote(room.rounds, "0", ""))
    app.button(key="reveal").click().run()
    assert room.board._stage["address"].startswith("/next_token?")
    app.button(key="drop_poll").click().run()
    assert BARS in components(app)
    assert BARS in room.board._stage["figures"]


def test_it_is_shown_without_a_question_too_and_another_text_waits_again():
    app, room = opened(page=NEXT_TOKEN, text=TEXT)
    app.toggle(key="ask_first").set_value(True).run()
    assert BARS in components(app)
    type_text(app, OTHER)
    assert BARS not in components(app)
    app.button(key="show_page").click().run()
    assert BARS in components(app)
    type_text(app, TEXT)  # which was shown
    assert BARS in components(app)
    app.toggle(key="ask_first").set_value(False).run()
    type_text(app, "The king")
    assert BARS in components(app)
    assert not button(app, "show_page")
    assert room.poll is None


def test_a_question_that_is_dropped_before_the_reveal_gives_nothing_away_either():
    app, room = opened(text=TEXT)
    app.toggle(key="ask_first").set_value(True).run()
    go(app, NEXT_TOKEN)
    app.button(key="first_where").click().run()
    assert room.poll is not None
    app.button(key="drop_poll").click().run()
    assert room.poll is None
    assert BARS not in components(app)
    assert BARS not in sent_to_phones(room)
    assert button(app, "first_next")
    app.button(key="show_page").click().run()
    assert BARS in components(app)


def test_a_page_that_cannot_be_asked_about_does_not_wait():
    app, _room = opened(text=TEXT)
    app.toggle(key="ask_first").set_value(True).run()
    app.selectbox(key="model_box").set_value("translator").run()
    assert "head_map" in components(app)
    assert not button(app, "show_page")


def test_who_comes_from_a_page_that_begins_with_the_plain_model_is_asked_about_the_changed_one():
    app, room = opened(page="pages/edit_heads/page.py", text=TEXT, edits="ScaledHead(4,2,0.0)", everywhere="1")
    app.toggle(key="ask_first").set_value(True).run()
    go(app, NEXT_TOKEN)
    app.button(key="first_next").click().run()
    assert room.poll is not None
    assert room.poll.question.changed == "changed: L4H2 ablated"
    app.button(key="drop_poll").click().run()
    go(app, "pages/sharing/page.py")
    app.button(key="first_next").click().run()
    assert room.poll.question.changed == ""


def test_the_table_of_pages_says_which_begin_with_the_plain_model():
    for entry in ENTRIES:
        begins = re.search(r"^opened = open_page\((.*)\)", entry.path.read_text(), re.M)
        assert entry.plain == (begins is not None and "plain_model=True" in begins[1]), entry.file
