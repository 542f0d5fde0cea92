"""Who is in, and who waits: so many sessions at a time, the others in the order in which they came."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE = 15.0  # seconds after which somebody who waits and does not ask any more has gone


class AdmissionQueue:
    """At most ``most`` are in; a place that was not used for ``idle`` seconds goes to who waits. Thread-safe.

    Nobody is let in while there is no ``room``, of memory say.
    """

    def __init__(
        self, most: int, idle: float, room: Callable[[], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._idle, self._room, self._clock = most, idle, room, clock
        self._in: dict[str, float] = {}  # session → when its reader last did something
        self._waiting: dict[str, float] = {}  # in order; session → when it last asked
        self._lock = threading.Lock()

    @property
    def inside(self) -> int:
        return len(self._in)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def ask(self, who: str) -> int | None:
        """How many wait before this session; None: it is in."""
        with self._lock:
            now = self._clock()
            if who in self._in:
                self._in[who] = now
                return None
            self._waiting = {one: last for one, last in self._waiting.items() if now - last < PATIENCE or one == who}
            self._waiting[who] = now  # keeps its place
            before = list(self._waiting).index(who)
            if before or not self._room() or not self._has_place(now):
                return before
            del self._waiting[who]
            self._in[who] = now
            return None

    def leave(self, who: str) -> None:
        """The session ended."""
        with self._lock:
            self._in.pop(who, None)
            self._waiting.pop(who, None)

    def _has_place(self, now: float) -> bool:
        if len(self._in) < self._most:
            return True
        longest = min(self._in, key=lambda one: self._in[one])
        if now - self._in[longest] < self._idle:
            return False
        del self._in[longest]
        return True
