"""Large parts of what components are sent are sent to a browser once: a click changes few of the bytes of its page.

A page's run sends every component its data, packed (viz/components/packing.py), though most of the arrays in them are
those of the run before. Once a session's browser has shown that it can ask by HTTP (shared/sent.js), an array that it
was sent already is left out, and put in again there from what the page kept, or asked for by its number: of messages
that follow one another at once a browser may draw the last alone (Streamlit 1.67), so that it never had the others.
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

MARK = 0xFFFFFFFF  # instead of the length of a packed payload's header
LEAST, MOST = 2_048, 2_000_000  # bytes of an array that is worth it, and of all that are kept for a session


class SentArrays:
    """What one session's browser was sent."""

    def __init__(self, base: str, desk: TileTickets = TICKETS) -> None:
        self._base, self._desk = base, desk
        self._lock = threading.Lock()
        self.reached = False
        self._last = 0
        self._size = 0
        self._held: OrderedDict[bytes, tuple[int, bytes]] = OrderedDict()  # by digest, the latest used last
        self.ticket = desk.open(self)

    def close(self) -> None:
        """Nothing is answered any more: a browser that comes back is sent all of it again, under another ticket."""
        self._desk.close(self.ticket)

    def answer(self, what: str, numbers: tuple[int, ...]) -> bytes:
        """An "array" by its number, or nothing for "reached", by which a browser shows that it can ask."""
        with self._lock:
            if what == "reached":
                self.reached = True
                return b""
            for number, data in self._held.values():
                if (what, numbers) == ("array", (number,)):
                    return data
        raise LookupError(what)

    def lean(self, payload: bytes) -> bytes:
        """The payload without the arrays that this browser has; as it is where there are none or it cannot ask."""
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
    """Where the parts of a packed payload that are worth it stand, in order: its header, and each array."""
    (length,) = struct.unpack_from("<I", payload)
    arrays = json.loads(payload[4 : 4 + length])["arrays"].values()
    first = (4 + length + 3) & ~3
    offsets = sorted(array["offset"] for array in arrays)
    if length >= LEAST:
        yield 4, 4 + length
    for offset, end in itertools.pairwise([*offsets, len(payload) - first]):
        if end - offset >= LEAST:
            yield first + offset, first + end
