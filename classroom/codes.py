"""The codes of rooms, short enough to be typed from a projector, and how many somebody may try.

A code is made of its teacher's key, so that a server that was started again, and knows nothing of its rooms, gives the
same code to whoever brings the key. To find another key for a code that one has seen would take 25⁶ / 2 tries of a
hash that is slow on purpose (scrypt, RFC 7914).
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable

ALPHABET = "ACDEFGHJKMNPQRTUVWXY34679"  # none that is read as another: no 0 O, 1 I L, 2 Z, 5 S, 8 B
LENGTH = 6
MOST_MISSES, WITHIN = 30, 60.0  # wrong codes of one address, and seconds: half of all codes would take eight years
SALT, MEMORY = b"a room of Attention Atlas", 2**14  # of scrypt: 16 MiB and about 40 ms for a code
MOST_ADDRESSES = 10_000


def new_key() -> str:
    """256 random bits, for a teacher."""
    return secrets.token_urlsafe(32)


def code_of(key: str) -> str:
    """The code that a key opens, one of 25⁶ = 244,140,625."""
    left = int.from_bytes(hashlib.scrypt(key.encode(), salt=SALT, n=MEMORY, r=8, p=1, dklen=16))
    letters: list[str] = []
    for _ in range(LENGTH):
        left, place = divmod(left, len(ALPHABET))
        letters.append(ALPHABET[place])
    return "".join(letters)


def normalized(typed: str) -> str | None:
    """A code as it was typed, in capitals and without spaces or dashes; None for what can be none."""
    code = "".join(typed[:40].split()).replace("-", "").upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


class Tries:
    """Different wrong codes by address: the same one again tells nothing new. Safe to use from several threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._missed: dict[str, dict[str, float]] = {}  # address → what was tried → when first
        self._lock = threading.Lock()
        self._now = now

    def may(self, address: str) -> bool:
        """Whether another code of this address is looked at; a school is often one address, so it is some."""
        with self._lock:
            return len(self._recent(address)) < MOST_MISSES

    def missed(self, address: str, tried: str) -> None:
        """What this address tried was wrong."""
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
