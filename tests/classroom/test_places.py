"""Places in a room: limits for students, one place for the teacher, and neither can take the other's."""

from __future__ import annotations

import asyncio

import pytest
from starlette.websockets import WebSocketDisconnect

from classroom import frames
from classroom.room import FULL, MOST_STUDENTS, Present
from tests.classroom.talking import PART, question, who


def test_a_full_room_says_so_in_one_sentence_and_has_a_place_again_when_somebody_leaves(room, join, teach):
    there = [Present(who(number)) for number in range(MOST_STUDENTS)]

    async def come() -> None:
        for one in there:
            room.enter(one)

    asyncio.run(come())
    with teach() as teacher:  # who has a place of his own
        teacher.until("count", there=MOST_STUDENTS)
        with join(MOST_STUDENTS) as line:
            told = line.until("refused")
            assert (told["words"], told["last"]) == (f"en: {FULL}", True)
            with pytest.raises(WebSocketDisconnect) as error:
                line.hear()
            assert error.value.code == 4404
        assert room.there == MOST_STUDENTS
        room.leave(there[0])
        with join(MOST_STUDENTS) as line:
            assert line.until("poll")["state"] == "none"


@pytest.mark.parametrize("key", ["of the room", "guessed"])
def test_a_student_who_is_there_becomes_no_teacher_not_even_with_the_key(room, join, key):
    room.board.turn({"title": "A", "subtitle": "", "page": "a"})
    room.board.figure("map", PART, b"a")
    with join() as line:
        line.until("poll")
        line.say(kind="teach", code=room.code, key=room.key if key == "of the room" else key)
        assert line.hear() == {"kind": "refused", "words": f"en: {frames.ONLY_TEACHER}"}
        line.say(kind="point", figure="map", at=1)
        assert line.hear() == {"kind": "refused", "words": f"en: {frames.ONLY_TEACHER}"}
        room.ask(question())
        assert line.hear()["kind"] == "poll"  # and no count: it is a student's line as before


def test_a_teachers_line_joins_no_room(room, teach):
    with teach() as teacher:
        teacher.until("count")
        teacher.say(kind="join", code=room.code, who=who(1))
        assert teacher.hear() == {"kind": "refused", "words": f"en: {frames.UNREADABLE}"}
        assert room.there == 0


def test_a_phone_that_is_taken_out_is_told_and_its_device_does_not_come_back(room, join, teach):
    room.ask(question())
    with teach() as teacher, join(1) as first, join(2) as second:
        for line in (first, second):
            asked = line.until("poll", state="open")
            line.say(kind="vote", round=asked["round"], answer="0", name="")
            line.until("voted")
        teacher.until("count", answered=2)
        room.remove(who(1))
        told = first.until("refused")
        assert told["last"]
        assert "taken this phone out" in told["words"]
        teacher.until("count", there=1, answered=1)
        with join(1) as again:
            assert "taken this phone out" in again.until("refused")["words"]
        with join(3) as third:
            third.until("poll", state="open")
