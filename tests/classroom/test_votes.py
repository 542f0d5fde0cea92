"""Votes over a room's WebSocket, and the page on which they are cast."""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from classroom import answers, poll
from classroom.desk import RoomDesk
from classroom.devices import COOKIE
from classroom.frames import Refused, Vote
from classroom.room import LOCKED, Present
from classroom.routes import classroom_routes
from classroom.vocabulary import Vocabulary
from tests.classroom.talking import HERE, PART, Line, question, who


def test_the_last_answer_counts_and_the_same_again_is_refused_in_one_sentence(room, join, teach):
    room.ask(question())
    with join(1) as line, teach() as teacher:
        asked = line.until("poll")
        assert asked["options"][1] == ["1", "<b>dog</b>"]
        line.say(kind="vote", round=asked["round"], answer="0")
        assert line.until("voted")["label"] == "The"
        line.say(kind="vote", round=asked["round"], answer="1")
        assert line.until("voted")["label"] == "<b>dog</b>"
        line.say(kind="vote", round=asked["round"], answer="1")
        assert line.until("refused")["words"] == f"en: {poll.ALREADY}"
        teacher.until("count", answered=1)
    assert [bar.counts for bar in room.poll.bars()] == [(0,), (1,), (0,)]


def test_before_the_reveal_nothing_of_other_answers_or_the_model_is_told(room, join):
    room.ask(question())
    with join(1) as line, join(2) as other:
        asked = line.until("poll")
        assert set(asked) == {
            "kind",
            "state",
            "round",
            "names",
            "again",
            "question",
            "about",
            "text",
            "changed",
            "options",
        }
        other.until("poll")
        other.say(kind="vote", round=asked["round"], answer="2")
        other.until("voted")
        line.say(kind="vote", round=asked["round"], answer="0")
        assert line.hear()["kind"] == "voted"  # and nothing before it


def test_what_one_phone_types_and_its_name_reach_no_other_not_even_at_the_reveal(room, join, teach):
    room.names = True
    room.ask(question(kind="next", answers=Vocabulary(["dog", "dot", "cat"])))
    with join(1) as line, join(2) as other, teach() as teacher:
        assert other.until("poll")["names"] is True
        line.until("poll")
        line.say(kind="complete", typed="do")
        assert [label for _, label in line.until("completed")["options"]] == ["dog", "dot"]
        line.say(kind="complete", typed="dohalftyped")
        assert line.until("completed")["options"] == []
        line.say(kind="vote", round=room.rounds, answer="0", name="Ada Lovelace")
        line.until("voted")
        told = [teacher.until("count", answered=1)]
        room.ask_again()
        line.say(kind="vote", round=room.rounds, answer="1", name="Ada Lovelace")
        line.until("voted")
        room.reveal()
        heard = other.all_until("poll", state="revealed")
        with join(3) as late:
            heard += late.all_until("poll", state="revealed")
            told += teacher.all_until("count", there=3)
    assert [frame["kind"] for frame in heard[:2]] == ["poll", "poll"]  # asked again, and revealed
    for word in ("Ada", "Lovelace", "halftyped", who(1), "voted", "completed", "dot"):
        assert word not in str(heard) + str(told)
    assert room.past[0].votes[1] == {who(1): ("1", "Ada Lovelace")}  # which the teacher's file has


@pytest.mark.parametrize("answer", ["3", "-1", "", "x", "٣"])
def test_what_is_no_answer_is_refused(room, join, answer):
    room.ask(question())
    with join() as line:
        line.say(kind="vote", round=room.rounds, answer=answer)
        assert line.until("refused")["words"] == f"en: {answers.NO_ANSWER}"
    assert room.answered == 0


def test_a_closed_round_takes_no_answers(room, join):
    room.ask(question())
    room.ask_again()
    with join() as line:
        line.say(kind="vote", round=room.rounds - 1, answer="0")
        assert line.until("refused")["words"] == f"en: {poll.CLOSED}"
        line.say(kind="vote", round=room.rounds, answer="0")
        line.until("voted")
        room.reveal()
        line.say(kind="vote", round=room.rounds, answer="1")
        assert line.until("refused")["words"] == f"en: {poll.CLOSED}"
    assert [len(votes) for votes in room.past[0].votes] == [0, 1]


def test_who_comes_back_sees_the_answers_given_before_in_both_votes(room, join):
    room.ask(question())
    for answer, ask_again in (("2", room.ask_again), ("0", lambda: None)):
        with join(7) as line:
            line.say(kind="vote", round=room.rounds, answer=answer)
            line.until("voted")
        ask_again()
    first = {"kind": "voted", "round": room.rounds - 1, "answer": "2", "label": "it"}
    with join(7) as line:
        assert line.hear()["kind"] == "here"
        assert [line.hear(), line.hear()] == [first, first | {"round": room.rounds, "answer": "0", "label": "The"}]
    with join(8) as line:
        assert line.hear()["kind"] == "here"
        assert line.hear()["kind"] != "voted"


# -- the page ---------------------------------------------------------------------------------------------------------


def test_the_students_page_allows_itself_nothing_but_its_own_files(client):
    for path in ("/join", "/join/ABC", "/join/%3Cscript%3E"):
        answer = client.get(path, headers={"accept-language": "zh-CN,zh;q=0.9"})
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert 'lang="zh"' in answer.text
        assert "<script>" not in answer.text
        assert "style=" not in answer.text


def test_a_component_is_served_once_a_room_shows_it(client, room):
    assert client.get("/classroom/part/1/little.js").status_code == 404
    room.board.figure("map", PART, b"")
    for kind, text in (("js", PART.js), ("css", PART.css), ("html", PART.html)):
        assert client.get(f"/classroom/part/1/little.{kind}").text == text
    assert client.get("/classroom/part/1/little.py").status_code == 404
    assert client.get("/classroom/part/1/..%2Fapp.js").status_code == 404


# -- one phone, one vote -----------------------------------------------------------------------------------------------


def test_the_page_gives_a_phone_one_cookie_that_scripts_cannot_read(client, desk):
    given = client.get("/join").headers["set-cookie"]
    assert all(word in given for word in ("HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=21600"))
    phone = desk.devices.known(client.cookies[COOKIE])
    assert len(phone) == 32
    assert "set-cookie" not in client.get("/join/ABC").headers
    client.cookies.clear()
    client.cookies[COOKIE] = f"{who(1)}.{'0' * 64}"  # one that it made itself
    assert "set-cookie" in client.get("/join").headers
    for wrong in (None, "", "é", who(1), f"{phone}.", RoomDesk().devices.value(phone)):
        assert desk.devices.known(wrong) == ""


def test_sixty_tabs_of_a_browser_are_one_vote(client, room, desk):
    """Whatever they say that they are."""
    room.ask(question())
    client.get("/join")
    for number in range(60):
        with client.websocket_connect("/classroom/talk", headers=HERE) as socket:
            line = Line(socket)
            line.say(kind="join", code=room.code, who=who(number))
            line.say(kind="vote", round=room.rounds, answer=str(number % 2))
            line.until("voted", answer=str(number % 2))
    assert room.answered == 1


def test_sixty_phones_of_an_address_are_no_more_than_its_share(desk, room, clock):
    """A script that takes no cookie: each of its sockets is a phone that was not here before."""
    room.ask(question())
    routes = classroom_routes(desk, ("en",), lambda _language, words: words, "", lambda address: (address, 5))
    with TestClient(Starlette(routes=routes)) as script:
        for number in range(60):
            clock.at += 7  # faster it is not let in at all
            script.cookies.clear()
            with script.websocket_connect("/classroom/talk", headers=HERE) as socket:
                assert dict(socket.extra_headers)[b"set-cookie"].startswith(f"{COOKIE}=".encode())
                line = Line(socket)
                line.say(kind="join", code=room.code)
                line.say(kind="vote", round=room.rounds, answer="0")
                assert line.all_until("voted" if number < 5 else "refused")
    assert room.answered == 5
    other = Present("another", "10.0.0.1", 5)
    room.vote(other, Vote(room.rounds, "1", ""))
    room.vote(other, Vote(room.rounds, "2", ""))
    assert room.answered == 6


def test_in_a_locked_room_are_those_who_were_there(room, join):
    room.ask(question())
    with join(1) as line:
        line.until("poll")
    room.locked = True
    with join(1) as line, join(2) as late:
        assert late.until("refused")["words"] == f"en: {LOCKED}"
        line.until("poll")
        line.say(kind="vote", round=room.rounds, answer="0")
        line.until("voted")
    room.locked = False
    with join(2) as late:
        late.until("poll")


def test_one_address_does_not_fill_a_room(room):
    async def entered() -> None:
        for number in range(3):
            room.enter(Present(str(number), "here", 3))
        room.enter(Present("1", "here", 3))  # a second window
        with pytest.raises(Refused, match="Too many phones"):
            room.enter(Present("3", "here", 3))
        room.enter(Present("3", "there", 3))

    asyncio.run(entered())


def test_new_phones_of_an_address_come_only_so_fast_and_those_that_are_known_always(desk, room, clock):
    """A script that joins as another phone each time costs its server more than a class does."""
    routes = classroom_routes(desk, ("en",), lambda _language, words: words, share=lambda address: (address, 2))
    with TestClient(Starlette(routes=routes)) as client:

        def comes(number: int = 0) -> bool:
            known = {"cookie": f"{COOKIE}={desk.devices.value(who(number))}"} if number else {}
            try:
                with client.websocket_connect("/classroom/talk", headers=HERE | known) as socket:
                    socket.send_json({"kind": "join", "code": room.code})
                    return json.loads(socket.receive_text())["kind"] == "here"
            except WebSocketDisconnect:
                return False
            finally:
                client.cookies.clear()

        assert [comes() for _ in range(6)] == [True] * 4 + [False] * 2
        assert comes(1)
        assert "set-cookie" not in client.get("/join").headers
        clock.at += 61
        assert "set-cookie" in client.get("/join").headers
        client.cookies.clear()
        assert [comes() for _ in range(4)] == [True] * 3 + [False]
