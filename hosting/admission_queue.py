"""The admission queue: a limit of sessions, a smaller limit per address, and no waiting for teachers."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

PATIENCE = 15.0  # seconds without a poll after which a waiting session is dropped


class Visitor(NamedTuple):
    """Who a session belongs to: the source that its share is counted for, and its browser; empty if unknown."""

    source: str = ""
    browser: str = ""
    teaches: bool = False


NOBODY = Visitor()


class AdmissionQueue:
    """Admits at most ``most`` sessions, ``share`` of them per source. Thread-safe.

    A slot unused for ``idle`` seconds goes to a waiting session. A source for which ``whole`` is true has no share. A
    slot stays reserved for its browser for ``keep`` seconds, because a page that is reloaded is a new session. Sessions
    wait in order of arrival, except that nobody waits behind a session that is held up only by its source's share.
    Teachers do not wait, and nobody is admitted while ``room`` is false, for example for lack of memory.
    """

    def __init__(
        self,
        most: int,
        idle: float,
        room: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        *,
        share: int | None = None,
        whole: Callable[[str], bool] = lambda _source: False,
        keep: float = 60,
    ) -> None:
        self._most, self._idle, self._room, self._clock = most, idle, room, clock
        self._share, self._whole, self._keep = most if share is None else share, whole, keep
        self._in: dict[str, tuple[float, Visitor]] = {}  # session → time of its last activity, and its visitor
        # in order of arrival; session → time of its last poll, and its visitor
        self._waiting: dict[str, tuple[float, Visitor]] = {}
        self._kept: list[tuple[float, Visitor]] = []  # reserved slots of sessions that left: until when
        self._left: dict[str, float] = {}  # browsers that left, teachers' included: until when they are remembered
        self._lock = threading.Lock()

    @property
    def inside(self) -> int:
        return len(self._in)

    @property
    def waiting(self) -> int:
        """Number of waiting sessions."""
        with self._lock:
            now = self._clock()
            return sum(now - last < PATIENCE for last, _ in self._waiting.values())

    @property
    def active(self) -> int:
        """Number of admitted sessions that were active recently."""
        with self._lock:
            now = self._clock()
            return sum(now - last < self._idle for last, _ in self._in.values())

    def knows(self, who: str, visitor: Visitor) -> bool:
        """Return True if this session is admitted, or its browser was until recently, as when a page is reloaded."""
        with self._lock:
            return who in self._in or self._left.get(visitor.browser, 0) > self._clock()

    def ask(self, who: str, visitor: Visitor = NOBODY) -> int | None:
        """Return the number of sessions ahead of this one, or None if it is admitted."""
        with self._lock:
            now = self._clock()
            if who in self._in or self._comes_back(visitor, now):
                return self._enter(who, visitor, now)
            self._waiting = {one: held for one, held in self._waiting.items() if now - held[0] < PATIENCE or one == who}
            self._waiting[who] = now, visitor  # keeps its position
            before = self._before(who, visitor)
            if before or not self._room() or not (visitor.teaches or self._has_place(visitor, now)):
                return before
            return self._enter(who, visitor, now)

    def leave(self, who: str) -> None:
        """Release the session's slot, which stays reserved for its browser for a while."""
        with self._lock:
            _, visitor = self._in.pop(who, (0.0, NOBODY))
            self._waiting.pop(who, None)
            until = self._clock() + self._keep
            self._left = {browser: end for browser, end in self._left.items() if end > self._clock()}
            if visitor.browser:
                self._left[visitor.browser] = until
            if visitor.browser and not visitor.teaches:
                self._kept.append((until, visitor))

    def _enter(self, who: str, visitor: Visitor, now: float) -> None:
        self._waiting.pop(who, None)
        self._in[who] = now, visitor

    def _comes_back(self, visitor: Visitor, now: float) -> bool:
        self._kept = [one for one in self._kept if one[0] > now]
        mine = [one for one in self._kept if one[1].browser == visitor.browser]
        if not mine:
            return False
        self._kept.remove(mine[0])
        return True

    def _before(self, who: str, visitor: Visitor) -> int:
        """Number of earlier sessions that wait for the same resource."""
        if visitor.teaches:
            return 0
        taken, before = self._taken(), 0
        for one, (_, other) in self._waiting.items():
            if one == who:
                break
            before += other.source == visitor.source or taken[other.source] < self._share or self._whole(other.source)
        return before

    def _taken(self) -> Counter[str]:
        held = [visitor for _, visitor in [*self._in.values(), *self._kept]]
        return Counter(visitor.source for visitor in held)

    def _has_place(self, visitor: Visitor, now: float) -> bool:
        taken = self._taken()
        if taken[visitor.source] >= self._share and not self._whole(visitor.source):
            return self._frees(now, [one for one, held in self._in.items() if held[1].source == visitor.source])
        return taken.total() < self._most or self._frees(now, list(self._in))

    def _frees(self, now: float, among: list[str]) -> bool:
        """Return True, and free the slot, if the session that was inactive longest has exceeded ``idle``."""
        longest = min(among, key=lambda one: self._in[one][0], default="")
        if not among or now - self._in[longest][0] < self._idle:
            return False
        del self._in[longest]
        return True
