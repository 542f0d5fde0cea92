"""Talk to a server with only rooms, without a browser."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from classroom.answers import Options
from classroom.desk import RoomDesk
from classroom.poll import ClassQuestion
from classroom.room import Room
from classroom.routes import classroom_routes
from viz.components.source import Source

HERE = {"origin": "http://testserver"}
PART = Source("little", '<div class="little">\n</div>', ".little { color: red }", "export default function () {}")
OTHER = Source("other", '<div class="other">\n</div>', "", "export default function () { return 1 }")
WEIGHTS = (0.5, 0.25, 0.25)


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def served(desk: RoomDesk) -> TestClient:
    """A client of a server with this desk's rooms."""
    routes = classroom_routes(desk, ("en", "zh"), lambda language, words: f"{language}: {words}")
    return TestClient(Starlette(routes=routes))


class Line:
    """One WebSocket: what it says, and what it is told."""

    def __init__(self, socket: WebSocketTestSession) -> None:
        self.socket = socket

    def say(self, **frame: Any) -> None:
        self.socket.send_text(json.dumps(frame))

    def hear(self) -> dict[str, Any]:
        """The next frame; of a figure its head, with the payload as ``bytes``."""
        message = self.socket.receive()
        if message["type"] == "websocket.close":
            raise WebSocketDisconnect(message["code"])
        if message.get("text") is not None:
            return json.loads(message["text"])
        data: bytes = message["bytes"]
        (length,) = struct.unpack("<I", data[:4])
        told = json.loads(data[4 : 4 + length])
        return {"kind": "figure", "bytes": zlib.decompress(data[4 + length :], wbits=31), **told}

    def until(self, kind: str, **facts: Any) -> dict[str, Any]:
        """The next frame of this kind that says this; those before it are passed over."""
        return self.all_until(kind, **facts)[-1]

    def all_until(self, kind: str, **facts: Any) -> list[dict[str, Any]]:
        """That frame, and those before it."""
        heard = list[dict[str, Any]]()
        while True:
            heard.append(told := self.hear())
            if told["kind"] == kind and all(told.get(name) == value for name, value in facts.items()):
                return heard


Connect = Callable[..., AbstractContextManager[Line]]


def question(**more: Any) -> ClassQuestion:
    """Of three answers, to one of which the model gives a half."""
    options = [(str(place), label) for place, label in enumerate(["The", "<b>dog</b>", "it"])]
    given: dict[str, Any] = {
        "kind": "where",
        "words": "Where does it look?",
        "text": "The dog",
        "answers": Options(options),
        "probability": lambda value: WEIGHTS[int(value)],
        "likeliest": ["0", "1", "2"],
    }
    return ClassQuestion(**given | more)


def who(number: int) -> str:
    return f"{number:032x}"


def frames(room: Room, after: int = -1) -> Iterator[dict[str, Any]]:
    """What a follower would be sent, as JSON where it is."""
    for frame in room.board.since(after)[1]:
        if isinstance(frame, str):
            yield json.loads(frame)
