"""The codes of rooms, short enough to be typed from a projector, and how often somebody may try one."""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable

ALPHABET = "ACDEFGHJKMNPQRTUVWXY34679"  # none that is read as another: no 0 O, 1 I L, 2 Z, 5 S, 8 B
LENGTH = 6
MOST_MISSES, WITHIN = 30, 60.0  # wrong codes of one address, and seconds: half of all codes would take eight years
MOST_ADDRESSES = 10_000


def new_code() -> str:
    """One of 25⁶ = 244,140,625."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def normalized(typed: str) -> str | None:
    """A code as it was typed, in capitals and without spaces or dashes; None for what can be none."""
    code = "".join(typed[:40].split()).replace("-", "").upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


class Tries:
    """Wrong codes by address. Safe to use from several threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._missed: dict[str, deque[float]] = {}
        self._lock = threading.Lock()
        self._now = now

    def may(self, address: str) -> bool:
        """Whether another code of this address is looked at; a school is often one address, so it is some."""
        with self._lock:
            return len(self._recent(address)) < MOST_MISSES

    def missed(self, address: str) -> None:
        """A code of this address was wrong."""
        with self._lock:
            if len(self._missed) >= MOST_ADDRESSES and address not in self._missed:
                self._missed.pop(next(iter(self._missed)))
            self._missed.setdefault(address, deque(maxlen=MOST_MISSES)).append(self._now())

    def _recent(self, address: str) -> deque[float]:
        found = self._missed.get(address, deque[float]())
        while found and found[0] <= self._now() - WITHIN:
            found.popleft()
        return found
