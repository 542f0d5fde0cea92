"""Invalid WebSocket frames in a room with an open question: nothing fails, and the room continues."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

import pytest
from starlette.websockets import WebSocketDisconnect

from classroom import routes
from classroom.codes import Tries
from tests.classroom.talking import question
from tests.fuzz.frames import of_room

EACH = 50  # frames of one connection


@pytest.mark.parametrize("count", [150, pytest.param(2000, marks=pytest.mark.long)])
def test_no_frame_fails_and_the_room_goes_on(room, join, monkeypatch: pytest.MonkeyPatch, count: int):
    """What a handler raises, the test's client raises."""
    monkeypatch.setattr(routes, "MOST_FRAMES", 10**9)
    monkeypatch.setattr(Tries, "may", lambda *_: True)
    room.ask(question())
    with join(1) as honest:
        asked = honest.until("poll")["round"]
        frames: Iterator[str | bytes] = of_room(20, count, room.code, asked)
        number = 1
        while some := list(islice(frames, EACH)):
            number += 1
            with suppress(WebSocketDisconnect), join(number) as line:
                for frame in some:
                    if isinstance(frame, str):
                        line.socket.send_text(frame.encode("utf-8", "replace").decode())
                    else:
                        line.socket.send_bytes(frame)
                line.say(kind="alive")
                line.until("alive")
        honest.say(kind="vote", round=asked, answer="2")
        assert honest.until("voted")["label"] == "it"
    assert not room.ended
    assert room.poll is not None
    assert 1 < sum(sum(bar.counts) for bar in room.poll.bars()) <= number  # some of them were right, one a phone
