"""A lesson's step in a room: its question comes first, to the class and on the projector, and then its page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from classroom.frames import Vote
from classroom.room import Present, Room
from lessons.shelf import Lesson
from tests.classroom.talking import frames
from tests.pages.test_class_figures import opened
from tests.pages.test_class_names import sent_to_phones
from tests.pages.test_lessons import FILES, PICTURES, SHIPPED
from tests.ui.driving import button, components, payload, send, sentences

ATTENTION = next(one for one in SHIPPED["en"] if one.name == "attention")
HEADS = next(one for one in SHIPPED["en"] if one.name == "heads")


def at_step(lesson: Lesson, number: int = 1) -> tuple[AppTest, Room]:
    """A room that is opened on a step's page."""
    step = lesson.steps[number - 1]
    place = {"lesson": lesson.name} | ({"step": str(number)} if number > 1 else {})
    return opened(page=FILES[step.page], **dict(step.parts), **place)


def told(room: Room, kind: str) -> dict[str, Any]:
    return [one for one in frames(room) if one["kind"] == kind][-1]


def vote(room: Room, answer: str, who: str = "Ada") -> None:
    room.vote(Present(who), Vote(room.rounds, answer, ""))


def test_the_class_is_asked_before_the_page_of_a_step_is_shown():
    app, room = at_step(ATTENTION)
    assert sentences(app) == []
    assert room.poll is not None
    assert (room.poll.state, room.poll.question.kind) == ("open", "where")
    assert (told(room, "poll")["state"], told(room, "stage")["figures"]) == ("open", [])
    assert not PICTURES & set(components(app))
    assert ATTENTION.steps[0].words in [one.value for one in app.markdown]
    assert "head_map" not in sent_to_phones(room)
    vote(room, "2")
    app.run()
    app.button(key="reveal").click().run()
    assert told(room, "poll")["state"] == "revealed"
    app.button(key="drop_poll").click().run()
    assert "head_map" in told(room, "stage")["figures"]
    assert [len(poll.votes[0]) for poll in room.past] == [1]


def test_the_map_beside_the_question_has_the_row_covered_and_a_click_in_it_answers_nothing():
    app, room = at_step(ATTENTION)
    meta, arrays = payload(app, "head_map")
    assert (arrays["left_out"][-1] == 1).all()
    assert meta["selected"][1] is None
    send(app, "head_map", "cell", [7, 5])
    assert room.poll is not None
    assert room.poll.votes == [{}]
    assert button(app, "reveal")


def test_a_step_is_skipped_on_its_card_and_what_was_answered_is_kept():
    app, room = at_step(ATTENTION)
    assert not button(app, "drop_poll")
    vote(room, "3")
    app.button(key="lesson_skip").click().run()
    assert room.poll is None
    assert "head_map" in told(room, "stage")["figures"]
    assert [list(poll.votes[0].values()) for poll in room.past] == [[("3", "")]]
    assert button(app, "lesson_ask")  # it can be asked all the same
    app.button(key="lesson_ask").click().run()
    assert room.poll is not None
    assert button(app, "drop_poll")


def test_a_step_that_was_answered_stays_shown_when_its_teacher_comes_back_to_it():
    app, room = at_step(ATTENTION)
    app.button(key="reveal").click().run()
    app.button(key="drop_poll").click().run()
    app.button(key="lesson_next_here").click().run()
    assert room.poll is None
    app.button(key="lesson_back_here").click().run()
    assert room.poll is None
    assert "head_map" in components(app)


def test_who_goes_on_with_the_question_open_leaves_it_and_comes_back_to_it_unless_somebody_answered():
    app, room = at_step(ATTENTION)
    app.button(key="lesson_next_here").click().run()
    assert room.poll is None
    assert "head_map" in told(room, "stage")["figures"]
    app.button(key="lesson_back_here").click().run()
    assert room.poll is not None
    vote(room, "1")
    app.button(key="lesson_next_here").click().run()
    assert [len(poll.votes[0]) for poll in room.asked] == [1]
    app.button(key="lesson_back_here").click().run()
    assert room.poll is None


def test_at_the_reveal_next_goes_on_and_the_answers_stay_in_the_results():
    app, room = at_step(ATTENTION)
    app.button(key="reveal").click().run()
    assert not button(app, "lesson_skip")
    app.button(key="lesson_next_here").click().run()
    assert room.poll is None
    assert len(room.past) == 1
    assert "head_map" in components(app)


def test_what_was_answered_alone_is_asked_of_the_class():
    from tests.pages.test_lessons import asking

    app, _step = asking("attention", 1)
    app.button(key="lesson_skip").click().run()
    app.button(key="open_room").click().run()
    room = app.session_state["room"]
    assert room.poll is None  # its code is shown first
    app.button(key="hide_code").click().run()
    assert room.poll is not None


def test_a_step_asks_its_own_question_and_not_what_may_be_asked_first():
    app, room = at_step(HEADS, 3)
    app.toggle(key="ask_first").set_value(True).run()
    assert room.poll is not None
    assert room.poll.question.kind == "ablate"
    app.button(key="lesson_skip").click().run()
    assert not button(app, "show_page")
    assert room.board._stage["figures"]


def test_who_turned_to_something_else_asks_nothing_and_to_close_the_lesson_takes_its_question_away():
    app, room = at_step(ATTENTION)
    app.button(key="lesson_close").click().run()
    assert room.poll is None
    app, room = opened(lesson=ATTENTION.name, text="The king")
    assert room.poll is None
    assert "head_map" in components(app)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_question_of_the_lessons_comes_first_in_a_room_too(language):
    for lesson in SHIPPED[language][:2]:
        for number, step in enumerate(lesson.steps, 1):
            if not step.question:
                continue
            place = {"lesson": lesson.name, "step": str(number)}
            app, room = opened(page=FILES[step.page], **dict(step.parts), **place, lang=language)
            assert sentences(app) == []
            assert room.poll is not None, (lesson.name, number)
            assert not PICTURES & set(components(app))
            stage = json.dumps(room.board._stage)
            assert room.board._stage["figures"] == [], stage
            app.button(key="lesson_skip").click().run()
            assert room.board._stage["figures"]
