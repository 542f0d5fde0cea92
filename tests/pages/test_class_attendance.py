"""The list of who is in a room: counted, named or numbered, with who has answered; and one is taken out."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from classroom.frames import Refused, Vote
from classroom.room import Present, Room
from tests.classroom.talking import who
from tests.pages.test_class_figures import opened
from tests.ui.driving import button, html


def listed() -> tuple[AppTest, Room, list[Present]]:
    """A room of three, whose list is open."""
    app, room = opened(text="The dog")
    phones = [Present(who(number)) for number in range(1, 4)]
    for phone in phones:
        room._let_in(phone)
        room._students.add(phone)
    app.session_state["attendance"] = True
    app.run()
    return app, room, phones


def test_everybody_is_listed_by_number_with_who_is_away():
    app, room, phones = listed()
    room.leave(phones[1])
    page = html(app.run())
    assert "2 here · 1 away" in page
    assert [f"Phone {number}" in page for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert page.count("atlas-phone away") == 1
    assert "answered yet" not in page


def test_who_has_answered_the_open_question_is_seen_and_by_name_where_names_are_asked_for():
    app, room, phones = listed()
    room.names = True
    app.button(key="ask_next").click().run()
    room.vote(phones[0], Vote(room.rounds, "3", "Ada <b>"))
    page = html(app.run())
    assert "3 here · 0 away · 1 answered" in page
    assert "<bdi>Ada &lt;b&gt;</bdi></b> <span>answered</span>" in page
    assert page.count("<span>not answered yet</span>") == 2
    app.button(key="reveal").click().run()
    assert "not answered yet" not in html(app)


def test_one_is_taken_out_with_its_answer_only_after_it_was_asked_and_cannot_come_back():
    app, room, phones = listed()
    app.button(key="ask_next").click().run()
    for phone in phones:
        room.vote(phone, Vote(room.rounds, "3", ""))
    app.run()
    app.button(key="remove_2").click().run()
    assert room.answered == 3
    assert "cannot come back" in html(app)
    app.button(key="stays_2").click().run()
    assert not button(app, "removed_2")
    app.button(key="remove_2").click().run()
    app.button(key="removed_2").click().run()
    assert room.answered == 2
    assert "Phone 2" not in html(app)
    assert "Phone 3" in html(app)
    for refused in (lambda: room._let_in(phones[1]), lambda: room.vote(phones[1], Vote(room.rounds, "4", ""))):
        with pytest.raises(Refused, match="taken this phone out"):
            refused()
