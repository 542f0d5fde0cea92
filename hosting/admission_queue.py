"""Who is in, and who waits: so many sessions at a time, a share of them for an address, teachers before everybody."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

PATIENCE = 15.0  # seconds after which somebody who waits and does not ask any more has gone


class Visitor(NamedTuple):
    """Whose session it is: where it comes from, as its share counts it, and its browser; "" is not known."""

    source: str = ""
    browser: str = ""
    teaches: bool = False


NOBODY = Visitor()


class AdmissionQueue:
    """At most ``most`` are in, ``share`` of them from one source; a place not used for ``idle`` seconds goes to who
    waits. A source for which ``whole`` is true has no share. Thread-safe.

    For ``keep`` seconds a place is its browser's still: a page that is loaded again is a new session.

    Others wait in the order in which they came, but behind nobody who waits for a share alone. Who teaches waits for no
    place, and nobody is let in while there is no ``room``, of memory say.
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
        self._in: dict[str, tuple[float, Visitor]] = {}  # session → when its reader last did something, who that is
        self._waiting: dict[str, tuple[float, Visitor]] = {}  # in order; session → when it last asked, who that is
        self._kept: list[tuple[float, Visitor]] = []  # places of who has left: until when
        self._left: dict[str, float] = {}  # browsers that left, teachers' too: until when they are still known
        self._lock = threading.Lock()

    @property
    def inside(self) -> int:
        return len(self._in)

    @property
    def waiting(self) -> int:
        """How many still ask."""
        with self._lock:
            now = self._clock()
            return sum(now - last < PATIENCE for last, _ in self._waiting.values())

    @property
    def active(self) -> int:
        """How many of those who are in did something lately."""
        with self._lock:
            now = self._clock()
            return sum(now - last < self._idle for last, _ in self._in.values())

    def knows(self, who: str, visitor: Visitor) -> bool:
        """Whether this session is in, or its browser was until a moment ago: its page is loaded again."""
        with self._lock:
            return who in self._in or self._left.get(visitor.browser, 0) > self._clock()

    def ask(self, who: str, visitor: Visitor = NOBODY) -> int | None:
        """How many wait before this session; None: it is in."""
        with self._lock:
            now = self._clock()
            if who in self._in or self._comes_back(visitor, now):
                return self._enter(who, visitor, now)
            self._waiting = {one: held for one, held in self._waiting.items() if now - held[0] < PATIENCE or one == who}
            self._waiting[who] = now, visitor  # keeps its place
            before = self._before(who, visitor)
            if before or not self._room() or not (visitor.teaches or self._has_place(visitor, now)):
                return before
            return self._enter(who, visitor, now)

    def leave(self, who: str) -> None:
        """The session ended; its browser has its place for a while."""
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
        """Those who came earlier and wait for what this one waits for."""
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
        """Whether the one who did nothing for longest has done nothing for too long; then its place is free."""
        longest = min(among, key=lambda one: self._in[one][0], default="")
        if not among or now - self._in[longest][0] < self._idle:
            return False
        del self._in[longest]
        return True
