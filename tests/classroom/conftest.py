"""A room desk with a fake clock, and connections to its rooms."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from classroom.desk import RoomDesk
from classroom.devices import COOKIE
from classroom.room import Room
from tests.classroom.talking import HERE, Clock, Connect, Line, served, who


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(clock: Clock) -> RoomDesk:
    return RoomDesk(clock)


@pytest.fixture
def room(desk: RoomDesk) -> Room:
    return desk.open()


@pytest.fixture
def client(desk: RoomDesk) -> Iterator[TestClient]:
    with served(desk) as client:  # one event loop for all lines
        yield client


@pytest.fixture
def connect(client: TestClient, desk: RoomDesk) -> Connect:
    @contextmanager
    def connected(**first: object) -> Generator[Line]:
        phone = str(first.pop("who", ""))
        cookie = {"cookie": f"{COOKIE}={desk.devices.value(phone)}"} if phone else {}
        with client.websocket_connect("/classroom/talk", headers=HERE | cookie) as socket:
            line = Line(socket)
            if first:
                line.say(**first)
            yield line

    return connected


@pytest.fixture
def join(connect: Connect, room: Room) -> Connect:
    return lambda number=1: connect(kind="join", code=room.code, who=who(number))


@pytest.fixture
def teach(connect: Connect, room: Room) -> Connect:
    return lambda: connect(kind="teach", code=room.code, key=room.key)
