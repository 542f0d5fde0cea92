"""Rooms on disk: a restarted server continues where it was, and nothing remains of a room that ended."""

from __future__ import annotations

import json
import math
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from classroom import kept_rooms
from classroom.answers import Heads, TypedNumbers
from classroom.desk import RoomDesk
from classroom.frames import Refused, Vote
from classroom.kept_question import packed, unpacked
from classroom.kept_rooms import FILE, LONGEST, KeptRooms
from classroom.poll import ClassQuestion, Poll
from classroom.results import HEADINGS, results_csv
from classroom.room import STAYS, Present, Room
from classroom.vocabulary import Vocabulary
from tests.classroom.killable import BACK_IN, Killable, until
from tests.classroom.talking import frames, question, served, who

WORDS = {name: name for name in HEADINGS}
HEAD_VALUES = {"L0H0": 0.25, "L0H1": math.nan, "L1H0": 1 / 3}
QUESTIONS = {
    "options": question(layer=1, head=2, told="so", changed="changed: L4H2 ablated"),
    "ablate": question(kind="ablate", before=0.9, after=0.1, likeliest=["1", "2"]),
    "vocabulary": question(
        kind="next",
        answers=Vocabulary(["·dog", "it\ud800", "狗"]),
        probability=lambda value: (0.1, 0.7, 0.2)[int(value)],
        likeliest=["1", "2"],
    ),
    "heads": ClassQuestion(
        "head", "Which?", "text", Heads([2, 1]), ["L1H0"], measured=HEAD_VALUES.__getitem__, unit="share"
    ),
    "typed": ClassQuestion("number", "What?", "1 + 1", TypedNumbers(), ["2"], measured=lambda _typed: 2.0, near=0.05),
}
ANSWERS = {
    "options": ["0", "1"], "ablate": ["0", "1"], "vocabulary": ["0", "2"], "heads": ["L0H1", "L1H0"],
    "typed": ["2.04", "-3"],
}  # fmt: skip  # two of each kind


class Server:
    """Its desk and its file, which are let go and taken up again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start()

    def start(self) -> None:
        self.kept, self.desk = KeptRooms(self.folder), RoomDesk()
        self.desk.keep(self.kept)

    def again(self) -> None:
        self.kept.close()
        self.start()

    def bytes(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.folder.iterdir())


@pytest.fixture
def server(tmp_path: Path):
    server = Server(tmp_path)
    yield server
    server.kept.close()


def vote(room: Room, number: int, answer: str, name: str = "") -> None:
    room.vote(Present(who(number)), Vote(room.rounds, answer, name))


def results(room: Room) -> bytes:
    return results_csv(room.asked, WORDS)


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_question_gives_the_same_results_from_its_bytes(kind):
    polls: list[Poll] = []
    for asked in (QUESTIONS[kind], unpacked(packed(QUESTIONS[kind]))):
        poll = Poll(asked, 1, named=False, asked=0.0)
        for number, answer in enumerate(ANSWERS[kind]):
            poll.take(who(number), Vote(1, answer, ""))
        polls.append(poll)
    first, second = polls
    assert results_csv([first], WORDS) == results_csv([second], WORDS)
    assert repr(first.every_bar()) == repr(second.every_bar())
    assert first.question.answers.offered() == second.question.answers.offered()
    assert first.surprise(0) == second.surprise(0) or first.question.probability is None
    with pytest.raises(Refused):
        second.take("x", Vote(1, "no answer", ""))


@pytest.mark.parametrize("kind", QUESTIONS)
def test_an_open_question_has_all_its_answers_after_a_restart(server, kind):
    room = server.desk.open()
    room.names = True
    room.ask(QUESTIONS[kind])
    vote(room, 1, ANSWERS[kind][0], "Ada")
    room.ask_again()
    vote(room, 1, ANSWERS[kind][1], "Ada")
    vote(room, 2, ANSWERS[kind][0], "Grace")
    told = [one for one in frames(room) if one["kind"] == "poll"]
    before, voted = results(room), room.voted(who(1))
    server.again()
    back = server.desk.back(room.key)
    assert not back.again  # nothing was lost, and nothing is said
    assert [one for one in frames(back) if one["kind"] == "poll"] == told
    assert results(back) == before
    assert back.voted(who(1)) == voted
    assert (back.answered, back.unsaved, back.key) == (2, 1, room.key)
    vote(back, 2, ANSWERS[kind][1], "Grace")  # it goes on
    server.again()
    assert server.desk.back(room.key).voted(who(2))[-1][1] == back.voted(who(2))[-1][1]


def test_finished_questions_and_what_was_saved_and_chosen_come_back(server):
    room = server.desk.open()
    room.ask(question())
    vote(room, 1, "0")
    room.reveal()
    room.save([1])
    room.drop()
    room.ask(question(words="Dropped before its reveal"))
    vote(room, 1, "1")
    room.drop()
    room.ask(question(words="The second"))
    vote(room, 2, "2")
    room.reveal()
    room.asks_first, room.locked = True, True
    before = results(room)
    server.again()
    back = server.desk.back(room.key)
    assert results(back) == before
    assert b"Dropped" not in before
    assert back.poll is not None
    assert back.poll.state == "revealed"
    assert (back.asks_first, back.locked, back.names, back.unsaved) == (True, True, False, 1)
    assert [poll.question.words for poll in back.past] == ["Where does it look?", "The second"]
    assert back.past[-1] is back.poll


def test_in_the_middle_of_a_lesson_what_was_asked_is_not_asked_again(server):
    room = server.desk.open()
    room.ask(question(), "attention/1")
    room.reveal()
    room.drop()
    room.ask(question(words="Which is next?"), "attention/7")
    vote(room, 1, "2")
    server.again()
    back = server.desk.back(room.key)
    assert back.shown == {"attention/1"}
    assert back.poll is not None
    assert (back.poll.step, back.poll.state) == ("attention/7", "open")
    back.leave_step("attention/7")
    server.again()
    again = server.desk.back(room.key)
    assert again.shown == {"attention/1", "attention/7"}
    assert [len(poll.votes[0]) for poll in again.past] == [0, 1]
    assert again.poll is None


def test_phones_are_known_by_their_cookies_and_one_that_was_removed_stays_out(server):
    room = server.desk.open()
    cookie = server.desk.devices.value(who(1))
    with served(server.desk) as client:
        for number in (1, 2):
            headers = {"origin": "http://testserver", "cookie": f"atlas_phone={server.desk.devices.value(who(number))}"}
            with client.websocket_connect("/classroom/talk", headers=headers) as socket:
                socket.send_json({"kind": "join", "code": room.code})
                socket.receive()
    room.remove(who(2))
    room.locked = True
    server.again()
    assert server.desk.devices.known(cookie) == who(1)
    back = server.desk.there(room.code)
    assert back is not None
    assert [(phone.who, phone.number) for phone in back.phones()] == [(who(1), 1)]
    back._let_in(Present(who(1)))  # locked, but it was here
    with pytest.raises(Refused, match="taken this phone out"):
        back._let_in(Present(who(2)))
    with pytest.raises(Refused, match="locked"):
        back._let_in(Present(who(3)))


def test_a_room_is_its_teachers_before_he_is_back_and_no_other_key_opens_it(server, monkeypatch):
    room = server.desk.open()
    server.again()
    back = server.desk.there(room.code)
    assert back is not None
    assert back.key == ""
    monkeypatch.setattr("classroom.desk.code_of", lambda _key: room.code)  # as if another key had been found for it
    with pytest.raises(Refused, match="no room"):
        server.desk.back("another")
    with pytest.raises(Refused, match="no room"):
        server.desk.taught(room.code, "", "here")
    assert server.desk.back(room.key) is back


def test_the_file_has_no_key_and_nobody_else_may_read_it(server):
    room = server.desk.open()
    room.ask(question())
    server.kept.settle()
    there = {path.name: stat.S_IMODE(path.stat().st_mode) for path in server.folder.iterdir()}
    assert FILE in there
    assert set(there.values()) == {0o600}
    assert room.code.encode() in server.bytes()
    assert room.key.encode() not in server.bytes()


def test_nothing_is_left_of_a_room_that_ended(server):
    room, other = server.desk.open(), server.desk.open()
    for one, word in ((room, "zweitausend"), (other, "dreitausend")):
        one.names = True
        one.ask(question(words=word))
        vote(one, 1, "0", f"Ada {word}")
    server.kept.settle()
    assert b"Ada zweitausend" in server.bytes()
    room.end()
    room.save([1])  # a click on its results that was on its way
    server.kept.settle()
    assert b"Ada zweitausend" not in server.bytes()
    assert room.code.encode() not in server.bytes()
    assert b"Ada dreitausend" in server.bytes()
    server.again()
    assert server.desk.there(room.code) is None
    assert server.desk.there(other.code) is not None


def test_a_room_whose_teacher_does_not_come_back_ends_after_ten_minutes(tmp_path, clock):
    server = Server(tmp_path)
    room = server.desk.open()
    server.kept.close()
    kept, desk = KeptRooms(tmp_path), RoomDesk(clock)
    desk.keep(kept)
    assert desk.there(room.code) is not None
    clock.at += STAYS + 1
    assert desk._living() == []  # as the thread that writes asks, twice a minute
    kept.settle()
    kept.close()
    with sqlite3.connect(tmp_path / FILE) as disk:
        assert disk.execute("SELECT count(*) FROM rooms").fetchone() == (0,)


def test_a_room_of_another_day_is_deleted_at_the_start(tmp_path):
    server = Server(tmp_path)
    room = server.desk.open()
    room.ask(question(words="Yesterday"))
    server.kept.close()
    kept, desk = KeptRooms(tmp_path, now=lambda: time.time() + LONGEST + 60), RoomDesk()
    desk.keep(kept)
    assert desk.there(room.code) is None
    kept.settle()
    assert b"Yesterday" not in server.bytes()
    kept.close()


@pytest.mark.parametrize("broken", ["no database", "a folder", "cut off"])
def test_a_broken_file_costs_the_keeping_and_not_the_class(tmp_path, caplog, broken):
    if broken == "no database":
        (tmp_path / FILE).write_bytes(b"This is no database, but a text." * 100)
    elif broken == "a folder":
        (tmp_path / FILE).mkdir()
    else:
        server = Server(tmp_path)
        server.desk.open().ask(question())
        server.kept.close()
        (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:5000])
    server = Server(tmp_path)
    room = server.desk.open()
    room.ask(question())
    vote(room, 1, "0")
    room.reveal()
    server.kept.settle()
    assert b"Where does it look?" in results(room)
    assert "cannot keep the room" in server.desk.problem
    assert sum("not kept on disk" in record.message for record in caplog.records) == 1
    server.kept.close()


def test_a_full_disk_costs_the_keeping_and_not_the_class(server, caplog):
    room = server.desk.open()
    server.kept.settle()
    disk = server.kept._disk
    disk.execute(f"PRAGMA max_page_count = {disk.execute('PRAGMA page_count').fetchone()[0]}")
    room.ask(question(words="x" * 100_000 + "".join(map(str, range(100_000)))))
    vote(room, 1, "0")
    server.kept.settle()
    assert "cannot keep the room" in server.desk.problem
    vote(room, 2, "0")
    room.reveal()
    assert [len(poll.votes[0]) for poll in room.asked] == [2]
    assert sum("disk is full" in record.message for record in caplog.records) == 1


def test_a_room_that_cannot_be_read_is_none_and_the_others_are_there(tmp_path):
    server = Server(tmp_path)
    rooms = [server.desk.open() for _ in range(2)]
    for room in rooms:
        room.ask(question())
    server.kept.close()
    with sqlite3.connect(tmp_path / FILE) as disk:
        disk.execute("UPDATE questions SET question = x'00' WHERE room = ?", (rooms[0].code,))
    disk.close()
    server.start()
    assert server.desk.problem == ""
    assert server.desk.there(rooms[0].code) is None
    assert server.desk.there(rooms[1].code) is not None
    server.kept.close()


def test_a_slow_disk_holds_up_neither_five_hundred_votes_nor_a_pointer(server, monkeypatch):
    commits: list[int] = []
    commit = server.kept._commit

    def slow(batch):
        if batch:
            commits.append(len(batch))
            time.sleep(0.3)
        commit(batch)

    monkeypatch.setattr(server.kept, "_commit", slow)
    room = server.desk.open()
    room.ask(question())
    room.board.turn({"title": "", "subtitle": "", "page": ""})
    longest, began = 0.0, time.monotonic()
    for number in range(500):
        at = time.monotonic()
        vote(room, number, str(number % 3))
        room.board.point("none", [number, 0])
        longest = max(longest, time.monotonic() - at)
    assert time.monotonic() - began < 0.3  # less than one write takes
    assert longest < 0.1
    server.kept.settle(30)
    assert len(commits) <= 5
    server.again()
    assert server.desk.back(room.key).answered == 500


def test_a_server_that_was_killed_has_the_open_question_with_every_answer(tmp_path):
    server = Killable(tmp_path)
    try:
        room = server.get("open")
        lines = [server.phone(room["code"]) for _ in range(5)]
        cookies = [line.response.headers["Set-Cookie"].partition(";")[0] for line in lines if line.response]
        born = [until(line, "here")["born"] for line in lines]
        server.get(f"ask/{room['key']}/attention")
        rounds = [until(line, "poll", state="open")["round"] for line in lines]
        for number, line in enumerate(lines):
            line.send(json.dumps({"kind": "vote", "round": rounds[0], "answer": str(number % 3), "name": ""}))
            until(line, "voted")
        before = server.get(f"results/{room['key']}")
        time.sleep(kept_rooms.PATIENCE / 10)  # of what was answered just before a power cut nothing is promised
        server.kill()
        server.start()
        at = time.monotonic()
        lines = [server.phone(room["code"], *one) for one in zip(born, cookies, strict=True)]
        for number, line in enumerate(lines):  # before the teacher is there
            assert until(line, "voted")["answer"] == str(number % 3)
            assert until(line, "poll")["round"] == rounds[0]
        assert time.monotonic() - at < BACK_IN
        assert server.get(f"back/{room['key']}") == {"code": room["code"], "again": False}
        assert server.get(f"results/{room['key']}") == before
        server.get(f"reveal/{room['key']}")
        assert server.get(f"results/{room['key']}")["shown"] == ["attention"]
        server.get(f"end/{room['key']}")
        time.sleep(0.5)
        assert room["code"].encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
        for line in lines:
            line.close()
    finally:
        server.kill()
