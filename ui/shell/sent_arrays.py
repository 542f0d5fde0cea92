"""Send large arrays to a browser only once: after a click most of a page's payloads are unchanged.

Every run of a page sends each component its data, packed (viz/components/packing.py), although most arrays are those of
the previous run. Once a session's browser has shown that it can fetch by HTTP (shared/sent.js), an array already sent
is left out, and the browser restores it from its cache or fetches it by number. Fetching is needed because a browser
may process only the last of several messages in quick succession (Streamlit 1.67), and so miss the others.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
import threading
from collections import OrderedDict
from collections.abc import Iterator

from jobs.tile_tickets import TICKETS, TileTickets

MARK = 0xFFFFFFFF  # replaces the length of a packed payload's header
LEAST, MOST = 2_048, 2_000_000  # bytes: smallest array that is left out, and size of a session's cache


class SentArrays:
    """The arrays that one session's browser has, and the payloads reduced accordingly."""

    def __init__(self, base: str, desk: TileTickets = TICKETS) -> None:
        self._base, self._desk = base, desk
        self._lock = threading.Lock()
        self.reached = False
        self._last = 0
        self._size = 0
        self._held: OrderedDict[bytes, tuple[int, bytes]] = OrderedDict()  # by digest, in order of last use
        self.ticket = desk.open(self)

    def close(self) -> None:
        """Stop answering. A browser that reconnects gets everything again, under a new ticket."""
        self._desk.close(self.ticket)

    def answer(self, what: str, numbers: tuple[int, ...]) -> bytes:
        """Return an "array" by its number. A browser asks for "reached", which is empty, to show that it can fetch."""
        with self._lock:
            if what == "reached":
                self.reached = True
                return b""
            for number, data in self._held.values():
                if (what, numbers) == ("array", (number,)):
                    return data
        raise LookupError(what)

    def lean(self, payload: bytes) -> bytes:
        """Return the payload without the arrays that the browser has; unchanged if it has none or cannot fetch."""
        with self._lock:
            if not self.reached:
                return payload
            parts = [self._part(payload, start, stop) for start, stop in _large(payload)]
        if not parts:
            return payload
        header = json.dumps({"ticket": self.ticket, "base": self._base, "size": len(payload), "parts": parts})
        kept: list[bytes] = []
        at = 0
        for part in parts:
            if not part["here"]:
                kept.append(payload[at : part["start"]])
                at = part["stop"]
        return b"".join([struct.pack("<II", MARK, len(header)), header.encode("ascii"), *kept, payload[at:]])

    def _part(self, payload: bytes, start: int, stop: int) -> dict[str, int]:
        data = payload[start:stop]
        digest = hashlib.blake2b(data, digest_size=16).digest()
        known = digest in self._held
        if known:
            self._held.move_to_end(digest)
        else:
            self._last += 1
            self._held[digest] = self._last, data
            self._size += len(data)
            while self._size > MOST and len(self._held) > 1:
                self._size -= len(self._held.popitem(last=False)[1][1])
        return {"start": start, "stop": stop, "id": self._held[digest][0], "here": not known}


def _large(payload: bytes) -> Iterator[tuple[int, int]]:
    """Yield start and stop of the large parts of a packed payload, in order: its header and each array."""
    (length,) = struct.unpack_from("<I", payload)
    arrays = json.loads(payload[4 : 4 + length])["arrays"].values()
    first = (4 + length + 3) & ~3
    offsets = sorted(array["offset"] for array in arrays)
    if length >= LEAST:
        yield 4, 4 + length
    for offset, end in itertools.pairwise([*offsets, len(payload) - first]):
        if end - offset >= LEAST:
            yield first + offset, first + end
