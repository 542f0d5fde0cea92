"""“End the room” asks first where a class would lose something, and counts what is in no file."""

from __future__ import annotations

from classroom.room import Present
from tests.pages.test_class_questions import open_room, vote
from tests.ui.driving import button, html


def test_a_room_that_nobody_is_in_and_nothing_was_asked_in_ends_at_once():
    app, room = open_room()
    app.button(key="end_room").click().run()
    assert room.ended
    assert button(app, "open_room")


def test_a_room_with_a_phone_in_it_is_kept_until_its_teacher_says_so():
    app, room = open_room()
    room._students.update({Present("a"), Present("b")})
    app.button(key="end_room").click().run()
    assert not room.ended
    assert "End the room? 2 here" in html(app)
    assert "not saved" not in html(app)
    app.button(key="keep_room").click().run()
    assert not room.ended
    assert "End the room? " not in html(app)
    app.button(key="end_room").click().run()
    app.button(key="end_it").click().run()
    assert room.ended
    app.button(key="open_room").click().run()
    assert button(app, "end_room")  # of the next room nothing is asked yet


def test_questions_are_counted_until_their_answers_are_saved():
    app, room = open_room()
    for _ in range(2):
        app.button(key="ask_next").click().run()
        vote(room, "1", "2")
        app.button(key="reveal").click().run()
    app.button(key="drop_poll").click().run()
    app.button(key="end_room").click().run()
    assert "questions with answers that are not saved: 2" in html(app)
    assert [one for one in app.get("download_button") if one.proto.label == "Results as CSV"]
    room.save([2, 2])  # as a click on the file does
    assert "not saved" not in html(app.run())
    assert not room.ended
    app.button(key="keep_room").click().run()
    app.button(key="ask_next").click().run()
    vote(room, "1")
    app.button(key="end_room").click().run()
    assert "questions with answers that are not saved: 1" in html(app)  # the open one
    assert [len(poll.votes[0]) for poll in room.asked] == [2, 2, 1]  # which the file has as well
    room.save([2, 2, 1])
    assert room.unsaved == 0
    vote(room, "2")
    assert room.unsaved == 1  # the file has what was answered before
    assert "End the room? " in html(app.run())


def test_a_room_that_is_locked_stays_locked_until_it_is_opened():
    app, room = open_room()
    app.toggle(key="lock_room").set_value(True).run()
    assert room.locked
    app.button(key="show_code").click().run()
    assert app.toggle(key="lock_room").value
    app.toggle(key="lock_room").set_value(False).run()
    assert not room.locked
