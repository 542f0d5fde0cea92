"""Rooms saved to disk while they live, so that a restarted server continues where it was.

One SQLite file in a folder of the host's, readable only by the server. A separate thread writes everything that has
accumulated in one transaction, so that nobody in a room waits for the disk. When a room ends its rows are deleted and
overwritten. The file has only the SHA-256 of a teacher's key, which does not reveal its 256 random bits.

Any error of the file or disk stops the saving, and nothing else: ``problem`` reports it.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from classroom.kept_question import packed, unpacked
from classroom.poll import ClassQuestion, Kept, Poll

N_ = str  # marks a text for Babel without translating it here

FILE = "rooms.sqlite3"
VERSION = 1  # of the table schema
LONGEST = 6 * 3600.0  # seconds for which a room is kept for a restarting server: a school day
LOOK = 30.0  # seconds between updates of which rooms still live
PATIENCE = 5.0  # seconds to wait for another process to release the file
TABLES = """
CREATE TABLE server (name TEXT PRIMARY KEY, value BLOB);
CREATE TABLE rooms (code TEXT PRIMARY KEY, proof BLOB, seen REAL, state TEXT);
CREATE TABLE questions (room TEXT, number INTEGER, about TEXT, question BLOB, PRIMARY KEY (room, number));
CREATE TABLE votes (room TEXT, number INTEGER, vote INTEGER, who TEXT, answer TEXT, name TEXT,
                    PRIMARY KEY (room, number, vote, who));
CREATE TABLE phones (room TEXT, who TEXT, number INTEGER, removed INTEGER, PRIMARY KEY (room, who));
"""
# fields of a question that change, and the time it was asked
ABOUT = ("round", "named", "state", "asked", "taken", "step")
OF_ROOM = ("questions", "votes", "phones")  # tables with a room's further rows

NOT_KEPT = N_(
    "This server cannot keep the room on its disk any more: the class continues, but a restart "
    "would lose its answers. Save the results in time."
)

Value = str | bytes | float | None | Callable[[], bytes]  # a function is evaluated when the row is written
Row = tuple[str, tuple[Value, ...]]  # a statement and its values


class RoomFile(Protocol):
    """Where a room saves its state."""

    def state(self, proof: bytes, told: Mapping[str, Any]) -> None:
        """Save the settings and the state that is a single value."""
        ...

    def poll(self, poll: Poll) -> None:
        """Save a question and its state."""
        ...

    def vote(self, poll: Poll, who: str) -> None:
        """Save a phone's newest answer, or its removal."""
        ...

    def drop(self, poll: Poll) -> None:
        """Delete a question that is not part of the results."""
        ...

    def phone(self, who: str, number: int, *, removed: bool) -> None:
        """Save a phone that joined."""
        ...

    def over(self) -> None:
        """Delete everything: the room has ended."""
        ...


@dataclass(frozen=True, eq=False)
class KeptRoom:
    """A saved room; ``polls`` by number, ``phones`` by cookie: number, and whether it was removed."""

    code: str
    proof: bytes
    state: Mapping[str, Any]
    polls: Mapping[int, Poll]
    phones: Mapping[str, tuple[int, bool]]


class KeptRooms:
    """The file. Thread-safe; what is put into it is written soon after, by a thread of its own."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self.problem = ""
        self._path, self._now = folder / FILE, now
        self._lock = threading.Lock()
        self._pending: dict[tuple[object, ...], list[Row]] = {}  # newest rows by key
        self._news = threading.Event()
        self._written = threading.Condition(self._lock)
        self._closed = False
        self._busy = False
        self._living: Callable[[], Collection[str]] = tuple
        self._disk: sqlite3.Connection | None = None
        try:
            self._disk = self._opened()
        except (sqlite3.Error, OSError) as error:
            self._fail(error)
        self._thread = threading.Thread(target=self._write, name="kept rooms", daemon=True)

    def _opened(self) -> sqlite3.Connection:
        # SQLite creates its other files with the same mode
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        os.chmod(self._path, 0o600)
        disk = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            for name, value in {"locking_mode": "EXCLUSIVE", "journal_mode": "WAL", "secure_delete": "ON"}.items():
                disk.execute(f"PRAGMA {name} = {value}")
            disk.execute("PRAGMA synchronous = FULL")
            (version,) = disk.execute("PRAGMA user_version").fetchone()
            if version != VERSION:  # an empty file, or one of another version
                names = [name for (name,) in disk.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                drops = "".join(f"DROP TABLE {name};" for name in names)
                disk.executescript(f"BEGIN; {drops} {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        except BaseException:
            disk.close()
            raise
        return disk

    # -- at startup ---------------------------------------------------------------------------------------------------

    def start(self, living: Callable[[], Collection[str]]) -> None:
        """Start writing; ``living`` returns the codes of open rooms, and is called regularly."""
        self._living = living
        self._thread.start()
        atexit.register(self.close)

    def secret(self, made: bytes) -> bytes:
        """Return the secret that signs phones' cookies: the saved one, else ``made``, which is saved."""
        disk = self._disk
        if disk is None:
            return made
        try:
            row = disk.execute("SELECT value FROM server WHERE name = 'secret'").fetchone()
            if row is None:
                disk.execute("INSERT INTO server VALUES ('secret', ?)", (made,))
            return made if row is None else bytes(row[0])
        except sqlite3.Error as error:
            self._fail(error)
            return made

    def rooms(self) -> list[KeptRoom]:
        """Return the rooms that were open when the server last ran. Delete those that are too old or unreadable."""
        disk, found = self._disk, list[KeptRoom]()
        if disk is None:
            return found
        try:
            old = disk.execute("SELECT code FROM rooms WHERE seen < ?", (self._now() - LONGEST,)).fetchall()
            for (code,) in old:
                self.over(code)
            for code, proof, state in disk.execute(
                "SELECT code, proof, state FROM rooms WHERE seen >= ?", (self._now() - LONGEST,)
            ).fetchall():
                try:
                    found.append(self._room(disk, code, bytes(proof), state))
                except (ValueError, KeyError, TypeError, zlib.error):
                    logging.getLogger(__name__).warning("A room in %s cannot be read: it is deleted.", FILE)
                    self.over(code)
        except sqlite3.Error as error:
            self._fail(error)
        return found

    def _room(self, disk: sqlite3.Connection, code: str, proof: bytes, state: str) -> KeptRoom:
        polls: dict[int, Poll] = {}
        for number, about, question in disk.execute(
            "SELECT number, about, question FROM questions WHERE room = ? ORDER BY number", (code,)
        ):
            told = json.loads(about)
            polls[number] = Poll(unpacked(question), **told, votes=[Kept() for _ in range(told["round"] - number + 1)])
        rows = disk.execute("SELECT number, vote, who, answer, name FROM votes WHERE room = ? ORDER BY rowid", (code,))
        for number, vote, who, answer, name in rows:
            polls[number].votes[vote][who] = answer, name
        phones = disk.execute("SELECT who, number, removed FROM phones WHERE room = ? ORDER BY number", (code,))
        known = {who: (number, bool(removed)) for who, number, removed in phones}
        return KeptRoom(code, proof, json.loads(state), polls, known)

    # -- while rooms live ---------------------------------------------------------------------------------------------

    def file_of(self, code: str, known: Collection[int] = ()) -> RoomFile:
        """Return where the room with this code saves; ``known`` are the numbers of its questions saved already."""
        return _RoomFile(self, code, known)

    def put(self, key: tuple[object, ...], *rows: Row) -> None:
        """Write these rows soon, replacing rows under the same key that are not written yet."""
        with self._lock:
            if self.problem or self._closed:
                return
            self._pending.pop(key, None)
            self._pending[key] = [*rows]
        self._news.set()

    def over(self, code: str) -> None:
        """Delete everything of this room."""
        with self._lock:
            for key in [key for key in self._pending if key[0] == code]:
                del self._pending[key]
        rows = [(f"DELETE FROM {table} WHERE room = ?", (code,)) for table in OF_ROOM]
        self.put((code,), ("DELETE FROM rooms WHERE code = ?", (code,)), *rows)

    def settle(self, seconds: float = PATIENCE) -> None:
        """Wait until all pending rows are written."""
        with self._written:
            self._written.wait_for(lambda: self.problem or not (self._pending or self._busy), seconds)

    def close(self) -> None:
        """Write what is left, and close the file."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._news.set()
        if self._thread.is_alive():
            self._thread.join(PATIENCE)
        if self._disk is not None:
            with suppress(sqlite3.Error):
                self._disk.close()
            self._disk = None

    # -- the thread ---------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        looked = time.monotonic()
        while not self._closed or self._pending:
            self._news.wait(max(0.0, looked + LOOK - time.monotonic()))
            self._news.clear()
            if time.monotonic() >= looked + LOOK:
                looked = time.monotonic()
                self._touch()
            with self._lock:
                batch, self._pending = self._pending, {}
                self._busy = bool(batch)
            try:
                self._commit(batch)
            except (sqlite3.Error, OSError) as error:
                self._fail(error)
            with self._written:
                self._busy = False
                self._written.notify_all()
            if self.problem:
                return

    def _touch(self) -> None:
        """Record the time at which each open room was last seen."""
        for code in self._living():
            self.put((code, "seen"), ("UPDATE rooms SET seen = ? WHERE code = ?", (self._now(), code)))

    def _commit(self, batch: Mapping[tuple[object, ...], list[Row]]) -> None:
        disk = self._disk
        if disk is None or not batch:
            return
        disk.execute("BEGIN IMMEDIATE")
        for rows in batch.values():
            for statement, values in rows:
                disk.execute(statement, tuple(value() if callable(value) else value for value in values))
        disk.execute("COMMIT")
        if any(len(key) == 1 for key in batch):  # deleted rows must not remain in the write-ahead log
            disk.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _fail(self, error: Exception) -> None:
        self.problem = NOT_KEPT
        logging.getLogger(__name__).error(
            "Rooms are not kept on disk any more (%s: %s). Classes go on; look at the folder that server.state names.",
            type(error).__name__, error,
        )  # fmt: skip  # one sentence and its values
        with self._lock:
            self._pending.clear()
            disk, self._disk = self._disk, None
        if disk is not None:
            with suppress(sqlite3.Error):
                disk.close()


class _RoomFile:
    """The file of one room; ``known`` are the numbers of questions saved already."""

    def __init__(self, kept: KeptRooms, code: str, known: Collection[int]) -> None:
        self._kept, self._code, self._known, self._ended = kept, code, {*known}, False

    def state(self, proof: bytes, told: Mapping[str, Any]) -> None:
        statement = (
            "INSERT INTO rooms VALUES (?, ?, ?, ?) "
            "ON CONFLICT (code) DO UPDATE SET seen = excluded.seen, state = excluded.state"
        )
        self._put(("state",), (statement, (self._code, proof, time.time(), json.dumps(told))))

    def poll(self, poll: Poll) -> None:
        about = json.dumps({name: getattr(poll, name) for name in ABOUT})
        question: ClassQuestion = poll.question
        if poll.number not in self._known:
            self._known.add(poll.number)
            values = (self._code, poll.number, about, lambda: packed(question))
            self._put(("question", poll.number), ("INSERT INTO questions VALUES (?, ?, ?, ?)", values))
        statement = "UPDATE questions SET about = ? WHERE (room, number) = (?, ?)"
        self._put(("about", poll.number), (statement, (about, self._code, poll.number)))

    def vote(self, poll: Poll, who: str) -> None:
        vote = len(poll.votes) - 1
        at = self._code, poll.number, vote, who
        given = poll.votes[vote].get(who)
        if given is None:
            row: Row = "DELETE FROM votes WHERE (room, number, vote, who) = (?, ?, ?, ?)", at
        else:
            row = "INSERT OR REPLACE INTO votes VALUES (?, ?, ?, ?, ?, ?)", (*at, *given)
        self._put(("vote", *at[1:]), row)

    def drop(self, poll: Poll) -> None:
        at = self._code, poll.number
        rows = [(f"DELETE FROM {table} WHERE (room, number) = (?, ?)", at) for table in ("questions", "votes")]
        self._put(("drop", poll.number), *rows)

    def phone(self, who: str, number: int, *, removed: bool) -> None:
        row = "INSERT OR REPLACE INTO phones VALUES (?, ?, ?, ?)", (self._code, who, number, removed)
        self._put(("phone", who), row)

    def over(self) -> None:
        if not self._ended:
            self._ended = True
            self._kept.over(self._code)

    def _put(self, key: tuple[object, ...], *rows: Row) -> None:
        if not self._ended:
            self._kept.put((self._code, *key), *rows)


class NotKept:
    """A room that is held in memory only."""

    def state(self, proof: bytes, told: Mapping[str, Any]) -> None:
        """Do nothing."""

    def poll(self, poll: Poll) -> None:
        """Do nothing."""

    def vote(self, poll: Poll, who: str) -> None:
        """Do nothing."""

    def drop(self, poll: Poll) -> None:
        """Do nothing."""

    def phone(self, who: str, number: int, *, removed: bool) -> None:
        """Do nothing."""

    def over(self) -> None:
        """Do nothing."""
