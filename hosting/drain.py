"""Draining: a server that admits nobody new and exits when its last lesson is over, so that a new version can replace
it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

LONGEST = 24 * 60  # minutes
MINUTE = 60.0  # seconds


class Drain:
    """Whether this server drains, and its deadline. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: float | None = None
        self._lock = threading.Lock()

    @property
    def begun(self) -> bool:
        return self._until is not None

    @property
    def minutes_left(self) -> int:
        """Minutes until the deadline, rounded up; 0 if it does not drain."""
        until = self._until
        return 0 if until is None else max(0, -int((self._clock() - until) // MINUTE))

    def begin(self, minutes: float) -> None:
        """Admit nobody new, and exit after this many minutes even if somebody is still there."""
        with self._lock:
            self._until = self._clock() + minutes * MINUTE

    def cancel(self) -> None:
        """Admit visitors again."""
        with self._lock:
            self._until = None

    def is_over(self, busy: bool) -> bool:
        """Return True if the server may exit now."""
        until = self._until
        return until is not None and (not busy or self._clock() >= until)


DRAIN = Drain()  # of this process; shared by its entrance, its rooms and its local port
