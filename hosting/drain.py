"""A server that lets nobody new in and ends when its last lesson is over, so that a new version takes its place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

LONGEST = 24 * 60  # minutes
MINUTE = 60.0  # seconds


class Drain:
    """Whether this server drains, and until when at the latest. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: float | None = None
        self._lock = threading.Lock()

    @property
    def begun(self) -> bool:
        return self._until is not None

    @property
    def minutes_left(self) -> int:
        """Until the latest end, rounded up; 0 where it does not drain."""
        until = self._until
        return 0 if until is None else max(0, -int((self._clock() - until) // MINUTE))

    def begin(self, minutes: float) -> None:
        """From now on nobody new is let in; after so many minutes the server ends, whoever is there."""
        with self._lock:
            self._until = self._clock() + minutes * MINUTE

    def cancel(self) -> None:
        """As before."""
        with self._lock:
            self._until = None

    def is_over(self, busy: bool) -> bool:
        """Whether the server may end now."""
        until = self._until
        return until is not None and (not busy or self._clock() >= until)


DRAIN = Drain()  # of this process: its entrance, its rooms and its local port meet here
