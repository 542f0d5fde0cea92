"""A room's server answers each frame, from students, from the teacher, and from anyone who sends something else."""

from __future__ import annotations

import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from classroom import desk as desks
from classroom import frames, routes
from classroom.codes import MOST_MISSES, WITHIN
from classroom.room import REMOVED, STAYS
from classroom.routes import MOST_FRAMES, SLOWER, classroom_routes
from tests.classroom.talking import HERE, OTHER, PART, question, who


def closed(line) -> int:
    try:
        while True:
            line.hear()
    except WebSocketDisconnect as error:
        return error.code


# -- following --------------------------------------------------------------------------------------------------------


def test_a_student_sees_what_the_page_mounts_when_it_mounts_it(room, join):
    with join() as line:
        assert line.until("stage")["figures"] == []
        room.board.turn({"title": "Heads", "subtitle": "all of them", "page": ""})
        room.board.figure("map", PART, b"first")
        room.wake()
        assert line.until("stage", title="Heads")["figures"] == ["map"]
        assert line.until("figure")["bytes"] == b"first"
        room.board.settle(text="<script>", caption="", address="/?room=1")
        room.wake()
        assert line.until("stage", text="<script>")["address"] == "/?room=1"


def test_who_comes_late_gets_all_parts_of_the_present_and_nothing_of_the_past(room, join):
    room.board.turn({"title": "Film", "subtitle": "", "page": "film"})
    room.board.figure("film", PART, b"other film")
    room.board.figure("film", PART, b"one")
    room.board.figure("film", PART, b"two", adds=True)
    room.board.figure("film", PART, b"two", adds=True)
    room.board.figure("gone", PART, b"gone")
    room.board.turn({"title": "Film", "subtitle": "", "page": "film"})
    room.board.figure("film", PART, b"two", adds=True)
    room.board.settle(text="", caption="", address="/film")
    room.board.point("film", {"at": 3})
    with join() as line:
        assert line.until("stage")["figures"] == ["film"]
        got = [line.hear() for _ in range(3)]
        assert [(one.get("bytes"), one.get("adds")) for one in got[:2]] == [(b"one", False), (b"two", True)]
        assert got[2] == {"kind": "point", "key": "film", "at": {"at": 3}}


def test_a_figure_of_another_component_under_the_same_key_replaces_it(room, join):
    room.board.turn({"title": "A", "subtitle": "", "page": "a"})
    room.board.figure("map", PART, b"same")
    with join() as line:
        assert line.until("figure")["component"] == "little"
        room.board.figure("map", OTHER, b"same", adds=True)
        room.wake()
        told = line.until("figure")
        assert (told["component"], told["adds"]) == ("other", False)


def test_another_page_takes_the_figures_of_the_last_one_away_at_once(room, join):
    room.board.turn({"title": "A", "subtitle": "", "page": "a"})
    room.board.figure("map", PART, b"a")
    with join() as line:
        line.until("figure")
        room.board.turn({"title": "B", "subtitle": "", "page": "b"})
        room.wake()
        assert line.until("stage", title="B")["figures"] == []


def test_what_the_teacher_points_at_goes_to_the_students_and_only_in_figures_that_are_shown(room, join, teach):
    room.board.turn({"title": "A", "subtitle": "", "page": "a"})
    room.board.figure("map", PART, b"a")
    with join() as line, teach() as teacher:
        teacher.say(kind="point", figure="nowhere", at=1)
        teacher.say(kind="point", figure="map", at={"hovered": [1, 2]})
        assert line.until("point") == {"kind": "point", "key": "map", "at": {"hovered": [1, 2]}}


def test_a_teacher_may_point_as_fast_as_a_pointer_moves(room, join, teach):
    room.board.turn({"title": "A", "subtitle": "", "page": "a"})
    room.board.figure("map", PART, b"a")
    with join() as line, teach() as teacher:
        for at in range(5 * MOST_FRAMES):
            teacher.say(kind="point", figure="map", at=at)
        assert line.until("point", at=5 * MOST_FRAMES - 1)


def test_the_teacher_is_told_how_many_are_there_and_a_student_with_two_windows_is_one(room, join, teach):
    with teach() as teacher:
        assert teacher.until("count")["there"] == 0
        with join(1), join(1), join(2):
            teacher.until("count", there=2)
        teacher.until("count", there=0)


# -- who may come -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["AAAAAA", "", "A", "no code at all", "ÄÖÜÄÖÜ", "<b>x</b>"])
def test_a_wrong_code_is_refused_in_one_sentence(connect, code):
    with connect(kind="join", code=code, who=who(1)) as line:
        told = line.hear()
        assert (told["kind"], told["words"], told["last"]) == ("refused", f"en: {desks.NO_ROOM}", True)
        assert closed(line) == 4404


def test_a_code_may_be_typed_in_small_letters_with_spaces(connect, room):
    typed = f" {room.code[:3].lower()}-{room.code[3:]} "
    with connect(kind="join", code=typed, who=who(1)) as line:
        assert line.hear()["kind"] == "here"


def test_guessing_is_stopped_even_for_the_right_code_and_goes_on_later(connect, room, clock):
    for number in range(MOST_MISSES - 1):
        for _ in range(2):  # the same again is nothing new: a class that comes back is no guessing
            with connect(kind="join", code=f"AAAA{number:02}", who=who(1)) as line:
                assert line.hear()["words"] == f"en: {desks.NO_ROOM}"
    with connect(kind="join", code=room.code, who=who(2)) as line:
        assert line.hear()["kind"] == "here"
    with connect(kind="join", code="AAAAAA", who=who(1)) as line:
        line.hear()
    with connect(kind="join", code=room.code, who=who(1)) as line:
        assert line.hear()["words"] == f"en: {desks.TOO_MANY_TRIES}"
    clock.at += WITHIN + 1
    with connect(kind="join", code=room.code, who=who(1)) as line:
        assert line.hear()["kind"] == "here"


def test_wrong_codes_of_a_neighbour_keep_no_phone_out_that_was_in_the_room(connect, room, join):
    for number in (1, 2):
        with join(number) as line:
            assert line.hear()["kind"] == "here"
    room.remove(who(2))
    for number in range(MOST_MISSES):
        with connect(kind="join", code=f"AAAA{number:02}", who=who(9)) as line:
            assert line.hear()["words"] == f"en: {desks.NO_ROOM}"
    with join(1) as back:
        assert back.hear()["kind"] == "here"
    with join(2) as removed:
        assert removed.until("refused")["words"] == f"en: {REMOVED}"
    for code, phone in ((room.code, who(3)), (room.code, ""), ("AAAAAA", who(1))):
        with connect(kind="join", code=code, who=phone) as line:
            assert line.hear()["words"] == f"en: {desks.TOO_MANY_TRIES}"


def test_guessing_the_teachers_key_counts_as_guessing_and_keeps_the_teacher_not_out(connect, room):
    for number in range(MOST_MISSES - 1):
        with connect(kind="teach", code=room.code, key=f"guessed{number}") as line:
            assert line.hear()["words"] == f"en: {desks.NO_ROOM}"
    for typed in ({"kind": "teach", "key": "guessed"}, {"kind": "join", "who": who(1)}):
        with connect(code=room.code, **typed) as line:
            assert line.hear()["words"] == f"en: {desks.TOO_MANY_TRIES}"
    with connect(kind="teach", code=room.code, key=room.key) as line:
        assert line.until("count")["there"] == 0


def test_an_ended_room_says_so_and_its_code_is_wrong_from_then_on(room, join, connect):
    with join() as line:
        line.until("stage")
        room.end()
        assert line.until("ended")["last"]
        assert closed(line) == 4410
    with connect(kind="join", code=room.code, who=who(1)) as line:
        assert line.hear()["words"] == f"en: {desks.NO_ROOM}"


def test_a_room_outlives_its_teachers_connection_by_ten_minutes(room, desk, teach, clock):
    with teach() as teacher:
        teacher.until("count")
        clock.at += 10 * STAYS
        assert not room.ended
    clock.at += STAYS - 1
    assert desk.find(room.code, "x") is room
    clock.at += 2
    with pytest.raises(frames.Refused, match="no room"):
        desk.find(room.code, "x")


def test_rooms_do_not_see_each_other(desk, connect):
    first, second = desk.open(), desk.open()
    with (
        connect(kind="join", code=first.code, who=who(1)) as one,
        connect(kind="teach", code=second.code, key=first.key) as x,
    ):
        assert x.hear()["kind"] == "refused"
        second.board.turn({"title": "Second", "subtitle": "", "page": ""})
        first.board.turn({"title": "First", "subtitle": "", "page": ""})
        second.wake()
        first.wake()
        assert one.until("stage", title="First")


def test_two_windows_of_a_teacher_are_one_room_and_another_teacher_is_none(room, teach, connect, clock, join):
    with teach() as first, teach() as second, join() as line:
        first.until("count", there=1)
        second.until("count", there=1)
        with connect(kind="teach", code=room.code, key="of-another-room") as other:
            assert other.hear()["words"] == f"en: {desks.NO_ROOM}"
        room.board.turn({"title": "Page", "subtitle": "", "page": ""})
        room.board.figure("map", PART, b"data")
        room.wake()
        line.until("figure")
        for window, at in ((first, 1), (second, 2)):
            window.say(kind="point", figure="map", at=at)
            assert line.until("point")["at"] == at
        first.socket.close()
        clock.at += 10 * STAYS
        assert not room.ended  # one of them is still there
        room.ask(question())
        assert line.until("poll", state="open")


@pytest.mark.parametrize("key", ["", "\ud800", "<b>", "x" * 101, None])
def test_what_can_be_no_key_is_refused_and_the_room_goes_on(room, connect, join, key):
    with connect(kind="teach", code=room.code, key=key) as line:
        assert line.hear()["words"] == f"en: {frames.UNREADABLE}"
    with join() as line:
        assert line.hear()["kind"] == "here"


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "null", "", "http://testserver.evil.example"])
def test_a_page_from_elsewhere_is_refused_before_it_can_speak(client, origin):
    with (
        pytest.raises(WebSocketDisconnect) as error,
        client.websocket_connect("/classroom/talk", headers={"origin": origin}),
    ):
        pass
    assert error.value.code == 4403


def test_a_page_that_gave_its_own_name_this_servers_address_is_refused(desk):
    """Its origin is its host, whatever machine the name leads to."""
    routes = classroom_routes(desk, ("en",), lambda _language, words: words, is_host="testserver".__eq__)
    rebound = {"origin": "http://evil.example", "host": "evil.example"}
    with TestClient(Starlette(routes=routes)) as client:
        with client.websocket_connect("/classroom/talk", headers=HERE):
            pass
        with (
            pytest.raises(WebSocketDisconnect) as error,
            client.websocket_connect("/classroom/talk", headers=rebound),
        ):
            pass
    assert error.value.code == 4403


# -- what may be said -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["point", "reveal", "end", "ask", "show", "stage"])
def test_a_student_cannot_do_what_the_teacher_does(room, join, kind):
    with join() as line:
        line.until("poll")
        line.say(kind=kind, figure="map", at=1)
        assert line.until("refused")["words"] == f"en: {frames.ONLY_TEACHER}"
        room.ask(question())
        assert line.until("poll", state="open")  # the room goes on


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "[]", "null", "1", '"join"', "{}", '{"kind": 1}', '{"kind": "vote"}', '{"kind": "nothing"}',
        '{"kind": "vote", "round": "1", "answer": "0"}', '{"kind": "vote", "round": true, "answer": "0"}',
        '{"kind": "vote", "round": 1, "answer": 0}', '{"kind": "vote", "round": 1, "answer": "%s"}' % ("x" * 100),
        '{"kind": "vote", "round": 1, "answer": "0", "name": 3}', "[" * 4000, '{"kind": "join", "code": 1, "who": 2}',
        '{"kind": "complete", "typed": null}', "NaN", "\u0000",
    ],
)  # fmt: skip
def test_what_is_no_frame_is_refused_and_the_room_goes_on(room, join, text):
    with join() as line:
        line.until("poll")
        line.socket.send_text(text)
        assert line.until("refused")["words"] == f"en: {frames.UNREADABLE}"
        room.ask(question())
        assert line.until("poll", state="open")


def test_bytes_are_no_frame(join):
    with join() as line:
        line.socket.send_bytes(b"\x00")
        assert line.until("refused")["words"] == f"en: {frames.UNREADABLE}"


def test_an_oversized_frame_ends_its_connection_alone(room, join):
    with join(1) as line, join(2) as other:
        other.until("poll")
        line.socket.send_text(json.dumps({"kind": "complete", "typed": "x" * frames.LONGEST}))
        assert line.until("refused")["words"] == f"en: {frames.TOO_LONG}"
        assert closed(line) == 4429
        room.ask(question())
        assert other.until("poll", state="open")


def test_who_says_too_much_at_once_is_let_go(join):
    with join() as line:
        for _ in range(MOST_FRAMES + 1):
            line.say(kind="complete", typed="x")
        assert line.until("refused")["words"] == f"en: {SLOWER}"
        assert closed(line) == 4429


@pytest.mark.parametrize(
    "first", [{"kind": "vote", "round": 1, "answer": "0"}, {"kind": "join", "code": 5}, {"kind": "?"}]
)
def test_the_first_frame_says_who_it_is(connect, first):
    with connect(**first) as line:
        assert line.hear()["words"] == f"en: {frames.UNREADABLE}"
        assert closed(line) == 4404


def test_who_says_nothing_is_let_go(connect, monkeypatch):
    monkeypatch.setattr(routes, "GREETING", 0.05)
    with connect() as line:
        assert line.hear()["words"] == f"en: {frames.UNREADABLE}"
        assert closed(line) == 4404
