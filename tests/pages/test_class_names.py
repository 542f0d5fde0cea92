"""Names that a teacher asks for: in the file of the results, and on no phone."""

from __future__ import annotations

import zlib

from classroom.frames import Vote
from classroom.results import HEADINGS, results_csv
from classroom.room import Present, Room
from tests.pages.test_class_questions import TEXT, open_room
from tests.ui.driving import html

NAMES = ("Ada Lovelace", "Emmy Noether")


def sent_to_phones(room: Room) -> str:
    """All that a phone which comes now is sent, as text."""
    told = [frame if isinstance(frame, str) else _figure(frame) for frame in room.board.since(-1)[1]]
    return "\n".join(told)


def _figure(frame: bytes) -> str:
    length = int.from_bytes(frame[:4], "little")
    return (frame[4 : 4 + length] + zlib.decompress(frame[4 + length :], wbits=31)).decode("utf-8", "replace")


def test_names_are_in_the_file_and_neither_on_phones_nor_on_the_projector():
    app, room = open_room(text=TEXT)
    app.toggle(key="ask_names").set_value(True).run()
    app.button(key="ask_where").click().run()
    seen = sent_to_phones(room)
    assert '"names":true' in seen
    for name, answer in zip(NAMES, "01", strict=True):
        room.vote(Present(name), Vote(room.rounds, answer, name))
    seen += sent_to_phones(room)
    app.button(key="reveal").click().run()
    revealed = sent_to_phones(room)
    assert "The class" in revealed
    assert "50 %" in revealed  # the answers themselves are there
    for name in NAMES:
        assert name not in seen + revealed + html(app)
        assert name in results_csv(room.past, {name: name for name in HEADINGS}).decode("utf-8-sig")


def test_who_asked_for_names_does_so_in_the_room_of_a_server_that_was_started_again():
    app, room = open_room(text=TEXT)
    app.toggle(key="ask_names").set_value(True).run()
    room.names = False  # as the room is then, while the browser says what its switch shows
    app.run()
    assert app.toggle(key="ask_names").value
    assert room.names
