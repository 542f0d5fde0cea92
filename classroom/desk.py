"""The rooms of this server, opened by teachers' sessions and found by their codes."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

from classroom.codes import Tries, code_of, new_key, normalized
from classroom.devices import Devices, Newcomers
from classroom.frames import Refused
from classroom.kept_rooms import KeptRooms
from classroom.room import Room

N_ = str  # marks a text for Babel without translating it here

MOST_ROOMS = 100
MOST_OVER = 10_000  # codes of ended rooms that are remembered

NO_ROOM = N_("There is no room with this code.")
TOO_MANY_TRIES = N_("Too many wrong codes from here: wait a minute.")
TOO_MANY_ROOMS = N_("This server cannot open another room.")
RESTARTS = N_("This server is about to restart: no new room can be opened until then.")


class RoomDesk:
    """Thread-safe."""

    opens = True  # whether new rooms may be opened; earlier ones may always be reopened

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.born = secrets.token_hex(8)  # changes when the server restarts
        self.devices, self.newcomers = Devices(), Newcomers(now)
        self._now = now
        self._over: dict[str, None] = {}
        self._rooms: dict[str, Room] = {}
        self._lock = threading.Lock()
        self._tries = Tries(now)
        self._kept: KeptRooms | None = None

    def keep(self, kept: KeptRooms) -> None:
        """Save rooms from now on, and restore those saved by a previous server process. Call once, at startup."""
        self._kept = kept
        self.devices = Devices(kept.secret(self.devices.secret))
        with self._lock:
            for one in kept.rooms():
                file = kept.file_of(one.code, [*one.polls])
                self._rooms[one.code] = Room(one.code, "", self._now, file, one)
        kept.start(self._living)

    @property
    def problem(self) -> str:
        """Why rooms are not saved although they should be, in one sentence; otherwise empty."""
        return self._kept.problem if self._kept else ""

    def _living(self) -> list[str]:
        with self._lock:
            self._tidy()
            return [*self._rooms]

    @property
    def count(self) -> int:
        """Number of open rooms."""
        with self._lock:
            self._tidy()
            return len(self._rooms)

    def open(self) -> Room:
        """Open a new room. Raises Refused if there are too many, or if no new rooms are allowed."""
        if not self.opens:
            raise Refused(RESTARTS)
        while True:
            key = new_key()
            code = code_of(key)
            with self._lock:
                self._tidy()
                if code not in self._rooms and code not in self._over:
                    return self._opened(code, key)

    def back(self, key: str) -> Room:
        """Return the room of this key to a returning teacher.

        If the server was restarted and had not saved the room, it is empty under its former code, and ``Room.again`` is
        true. Raises Refused if the room has ended on this server, or if there are too many.
        """
        code = code_of(key)
        with self._lock:
            self._tidy()
            held = self._rooms.get(code)
            if held is None and code not in self._over:
                room = self._opened(code, key)
                room.reopened = room.rounds
                return room
            if held is None or not held.is_of(key):
                raise Refused(NO_ROOM)
            return held

    def _opened(self, code: str, key: str) -> Room:
        if len(self._rooms) >= MOST_ROOMS:
            raise Refused(TOO_MANY_ROOMS)
        self._rooms[code] = Room(code, key, self._now, self._kept.file_of(code) if self._kept else None)
        return self._rooms[code]

    def find(self, typed: str, address: str, who: str = "") -> Room:
        """Return the room with this code for a phone at this address. Raises Refused.

        An ended room is refused like a wrong code, so that its code reveals nothing. A phone that was in the room is
        admitted even if its address has tried too many wrong codes, as a school's may: ``who`` is from a signed cookie.
        """
        room = self.there(typed)
        if room is not None and room.knows(who):
            return room
        if not self._tries.may(address):
            raise Refused(TOO_MANY_TRIES)
        if room is None:
            self._tries.missed(address, typed)
            raise Refused(NO_ROOM)
        return room

    def taught(self, typed: str, key: str, address: str) -> Room:
        """Return the room that this key opens for its teacher. Raises Refused, as for a wrong code.

        A teacher is admitted even if the address has tried too many wrong codes, because a key cannot be guessed.
        """
        room = self.there(typed)
        if room is not None and room.is_of(key):
            return room
        self._tries.missed(address, f"{typed} {key}")
        raise Refused(NO_ROOM if self._tries.may(address) else TOO_MANY_TRIES)

    def there(self, typed: str) -> Room | None:
        """Return the open room with this code, or None."""
        with self._lock:
            self._tidy()
            return self._rooms.get(normalized(typed) or "")

    def part(self, name: str) -> tuple[str, str, str] | None:
        """Return script, style sheet and root element of a component that some room shows, or None."""
        with self._lock:
            found = [room.board.sources.get(name) for room in self._rooms.values()]
        source = next((one for one in found if one is not None), None)
        return None if source is None else (source.js, source.css, source.html)

    def _tidy(self) -> None:
        over = [code for code, room in self._rooms.items() if room.ended]
        for code in over:
            del self._rooms[code]
        if over:
            self._over = dict.fromkeys([*self._over, *over][-MOST_OVER:])


DESK = RoomDesk()  # of this server; shared by its routes and the teachers' pages
