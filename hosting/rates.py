"""Rate limiting with a token bucket per client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MINUTE = 60.0  # seconds
MOST_KNOWN = 10_000  # clients that are remembered; one whose bucket is full is forgotten first


class Rates:
    """Allows each client ``most`` requests a minute, at once or spread (a token bucket). Thread-safe."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._left: dict[str, tuple[float, float]] = {}  # client → tokens left, and when
        self._lock = threading.Lock()

    def ask(self, who: str) -> float:
        """Take a token and return 0, or return the seconds until one is available."""
        with self._lock:
            now = self._clock()
            left = self._now(who, now)
            if left < 1:
                return (1 - left) * MINUTE / self._most
            self._left[who] = left - 1, now
            if len(self._left) > MOST_KNOWN:
                self._left = {one: known for one, known in self._left.items() if self._now(one, now) < self._most}
            return 0.0

    def _now(self, who: str, now: float) -> float:
        left, when = self._left.get(who, (float(self._most), now))
        return min(float(self._most), left + (now - when) * self._most / MINUTE)
