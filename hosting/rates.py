"""How often somebody may ask: so many times in a minute, and then as soon as there is room again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MINUTE = 60.0  # seconds
MOST_KNOWN = 10_000  # of whom something is remembered; who is back at all of his minute is forgotten first


class Rates:
    """At most ``most`` a minute of each, at once or spread (a token bucket). Safe to use from several threads."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._left: dict[str, tuple[float, float]] = {}  # who → what was left, and when
        self._lock = threading.Lock()

    def ask(self, who: str) -> float:
        """0 where it is granted, and counted; else the seconds after which it would be."""
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
