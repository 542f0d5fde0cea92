"""The rooms of this server: opened by a session of its teacher, found by their codes."""

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
MOST_OVER = 10_000  # codes of rooms that have ended, which are remembered

NO_ROOM = N_("There is no room with this code.")
TOO_MANY_TRIES = N_("Too many wrong codes from here: wait a minute.")
TOO_MANY_ROOMS = N_("This server cannot open another room.")
RESTARTS = N_("This server is about to restart: no new room can be opened until then.")


class RoomDesk:
    """Safe to use from several threads."""

    opens = True  # whether a new room may be opened; one that was open may come back

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.born = secrets.token_hex(8)  # by which a browser knows whether the server was started again
        self.devices, self.newcomers = Devices(), Newcomers(now)
        self._now = now
        self._over: dict[str, None] = {}
        self._rooms: dict[str, Room] = {}
        self._lock = threading.Lock()
        self._tries = Tries(now)
        self._kept: KeptRooms | None = None

    def keep(self, kept: KeptRooms) -> None:
        """Keep what rooms hold from now on, and open those that a server before this one kept. Once, at the start."""
        self._kept = kept
        self.devices = Devices(kept.secret(self.devices.secret))
        with self._lock:
            for one in kept.rooms():
                file = kept.file_of(one.code, [*one.polls])
                self._rooms[one.code] = Room(one.code, "", self._now, file, one)
        kept.start(self._living)

    @property
    def problem(self) -> str:
        """Why rooms are not kept though they should be, in one sentence; else nothing."""
        return self._kept.problem if self._kept else ""

    def _living(self) -> list[str]:
        with self._lock:
            self._tidy()
            return [*self._rooms]

    @property
    def count(self) -> int:
        """How many rooms are open."""
        with self._lock:
            self._tidy()
            return len(self._rooms)

    def open(self) -> Room:
        """A new room. Raises Refused where there are too many, and where none may be opened."""
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
        """The room that this key is of, for its teacher who comes back.

        A server that was started again and did not keep it knows nothing of it: it is empty then, under the code that
        it had, and says so (``Room.again``). Raises Refused for a room that has ended on this server, and where there
        are too many.
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
        """The room with this code, asked for by a phone at this address. Raises Refused.

        A room that has ended is none: its code tells no more than a wrong one. Wrong codes of others at the same
        address, a school's, do not keep a phone out that was in the room: ``who`` is from a signed cookie.
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
        """The room that this key opens for its teacher. Raises Refused, as for a wrong code.

        Wrong codes of others at the same address, a school's, do not keep its teacher out: the key cannot be guessed.
        """
        room = self.there(typed)
        if room is not None and room.is_of(key):
            return room
        self._tries.missed(address, f"{typed} {key}")
        raise Refused(NO_ROOM if self._tries.may(address) else TOO_MANY_TRIES)

    def there(self, typed: str) -> Room | None:
        """The room with this code, if there is one now."""
        with self._lock:
            self._tidy()
            return self._rooms.get(normalized(typed) or "")

    def part(self, name: str) -> tuple[str, str, str] | None:
        """Script, style sheet and root element of a component that is shown in some room."""
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


DESK = RoomDesk()  # of this server: its routes and the teachers' pages meet here
