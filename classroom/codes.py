"""Room codes, short enough to type from a projector, and a limit on wrong attempts.

A code is derived from its teacher's key, so that a server that was restarted, and knows none of its rooms, gives the
same code to whoever presents the key. Finding another key for a known code would take 25⁶ / 2 evaluations of a hash
that is slow on purpose (scrypt, RFC 7914).
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable

ALPHABET = "ACDEFGHJKMNPQRTUVWXY34679"  # no characters that are easily confused: 0 O, 1 I L, 2 Z, 5 S, 8 B
LENGTH = 6
MOST_MISSES, WITHIN = 30, 60.0  # wrong codes per address, and seconds: trying half of all codes would take eight years
SALT, MEMORY = b"a room of Attention Atlas", 2**14  # of scrypt: 16 MiB and about 40 ms per code
MOST_ADDRESSES = 10_000


def new_key() -> str:
    """256 random bits for a teacher."""
    return secrets.token_urlsafe(32)


def code_of(key: str) -> str:
    """The code derived from a key, one of 25⁶ = 244,140,625."""
    left = int.from_bytes(hashlib.scrypt(key.encode(), salt=SALT, n=MEMORY, r=8, p=1, dklen=16))
    letters: list[str] = []
    for _ in range(LENGTH):
        left, place = divmod(left, len(ALPHABET))
        letters.append(ALPHABET[place])
    return "".join(letters)


def normalized(typed: str) -> str | None:
    """A typed code in capitals without spaces and dashes, or None if it is no valid code."""
    code = "".join(typed[:40].split()).replace("-", "").upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


class Tries:
    """Counts different wrong codes per address; repeating one reveals nothing. Thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._missed: dict[str, dict[str, float]] = {}  # address → wrong code → time of its first attempt
        self._lock = threading.Lock()
        self._now = now

    def may(self, address: str) -> bool:
        """Return True if this address may try another code.

        The limit allows several attempts, as a school often has one address.
        """
        with self._lock:
            return len(self._recent(address)) < MOST_MISSES

    def missed(self, address: str, tried: str) -> None:
        """Count a wrong code of this address."""
        with self._lock:
            if len(self._missed) >= MOST_ADDRESSES and address not in self._missed:
                self._missed.pop(next(iter(self._missed)))
            found = self._recent(address)
            if len(found) < MOST_MISSES:
                found.setdefault(tried, self._now())
            self._missed[address] = found

    def _recent(self, address: str) -> dict[str, float]:
        since = self._now() - WITHIN
        return {tried: at for tried, at in self._missed.get(address, {}).items() if at > since}
