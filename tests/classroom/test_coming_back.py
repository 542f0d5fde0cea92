"""Teachers and classes reconnect to an open room, to a server that was killed, and to a room that has ended."""

from __future__ import annotations

import json
import time

import pytest
from websockets.exceptions import ConnectionClosed

from classroom import desk as desks
from classroom.codes import new_key
from classroom.desk import RoomDesk
from classroom.frames import Refused
from classroom.room import STAYS
from tests.classroom.killable import BACK_IN, Killable, until
from tests.classroom.talking import HERE, Line, question, served, who

PHONES = 5


def test_a_key_brings_back_the_room_that_it_opened_and_no_other(desk, room):
    assert desk.back(room.key) is room
    assert not room.again
    assert desk.back(new_key()).code != room.code


def test_a_room_says_that_it_was_opened_once_more_whoever_asks_for_it_until_something_is_asked(desk):
    key = new_key()
    assert desk.back(key).again
    assert desk.back(key).again  # a run of the page that was cut off had it first
    desk.back(key).ask(question())
    assert not desk.back(key).again


def test_a_room_that_has_ended_does_not_come_back(desk, room, clock):
    room.end()
    with pytest.raises(Refused, match="no room"):
        desk.back(room.key)
    left = desk.open()
    clock.at += STAYS + 1  # its teacher never came
    with pytest.raises(Refused, match="no room"):
        desk.back(left.key)


def test_a_key_that_another_room_stands_under_is_refused(desk, room, monkeypatch):
    """As somebody would have who had found another key for this code."""
    monkeypatch.setattr(desks, "code_of", lambda _key: room.code)
    with pytest.raises(Refused, match="no room"):
        desk.back(new_key())


def test_a_class_waits_on_a_new_server_for_its_teacher_and_answers_anew(desk, room, clock):
    room.ask(question())
    held = room.rounds
    started_again = RoomDesk(clock)
    with served(started_again) as client, client.websocket_connect("/classroom/talk", headers=HERE) as socket:
        line = Line(socket)
        line.say(kind="join", code=room.code, born=desk.born)
        assert line.hear() == {"kind": "waits"}
        back = started_again.back(room.key)
        assert back.again
        assert back.code == room.code
        assert line.until("here")["born"] == started_again.born
        assert line.until("poll")["state"] == "none"
        back.ask(question())
        line.say(kind="vote", round=held, answer="0")
        assert "closed" in line.until("refused")["words"]


def test_who_was_never_here_or_is_told_the_end_does_not_wait(desk, room, connect):
    room.end()
    for born in ("", desk.born):
        with connect(kind="join", code=room.code, who=who(1), born=born) as line:
            told = line.hear()
            assert (told["kind"], told["born"]) == ("refused", desk.born)
    for born in ("x" * 17, 3):
        with connect(kind="join", code=room.code, who=who(1), born=born) as line:
            assert "read" in line.hear()["words"]


def test_who_talks_while_waiting_is_let_go(connect):
    with connect(kind="join", code="AAAAAA", who=who(1), born="other") as line:
        assert line.hear()["kind"] == "waits"
        for _ in range(100):
            line.say(kind="vote", round=1, answer="0")
        assert line.until("refused")["last"]


# -- a server that is killed ------------------------------------------------------------------------------------------


def test_a_server_that_was_killed_has_its_class_again_ten_seconds_after_the_teacher():
    server = Killable()
    try:
        room = server.get("open")
        lines = [server.phone(room["code"]) for _ in range(PHONES)]
        born = [until(line, "here")["born"] for line in lines]
        server.get(f"show/{room['key']}/Before")
        for line in lines:
            until(line, "stage", title="Before")
        server.kill()
        for line in lines:
            with pytest.raises(ConnectionClosed):
                line.recv(5)
        server.start()
        lines = [server.phone(room["code"], one) for one in born]
        for line in lines:
            assert json.loads(line.recv(5)) == {"kind": "waits"}
        at = time.monotonic()
        assert server.get(f"back/{room['key']}") == {"code": room["code"], "again": True}
        server.get(f"show/{room['key']}/After")
        for line in lines:
            until(line, "stage", title="After")
        assert time.monotonic() - at < BACK_IN
        assert server.get(f"show/{room['key']}/After") == {"there": PHONES}
        for line in lines:
            line.close()
    finally:
        server.kill()
