"""What a room currently shows, as frames for its followers.

Every entry has the number of its last change. A follower has seen everything up to some number and is sent what changed
since; one who joins late, reconnects or is slow gets the current state, and nothing is queued. A figure is what the
teacher's page mounted under a key: a component's name and its payload, compressed once for all.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from viz.components.source import Source

MOST_PARTS = 2000  # parts of a growing figure
SENT = dict[str, Any]


@dataclass
class _Figure:
    """A component and its payload, in parts if it grows: each with its change number, as a frame."""

    component: str
    version: str
    digest: bytes = b""  # of the newest payload
    parts: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])


class SharedFigures:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._number = 0
        self._stage: SENT = {"title": "", "subtitle": "", "figures": []}
        self._stage_at = 0
        self._figures: dict[str, _Figure] = {}
        self._points: dict[str, tuple[int, str]] = {}
        self._said: dict[str, tuple[int, str]] = {}
        self._mounted: list[str] = []
        self.sources: dict[str, Source] = {}

    @property
    def number(self) -> int:
        """Number of the last change."""
        return self._number

    # -- called by the teacher's page ---------------------------------------------------------------------------------

    def turn(self, page: Mapping[str, str]) -> None:
        """Start a page run; if it is another page than before, clear the board."""
        with self._lock:
            self._mounted = []
            if {name: self._stage.get(name) for name in page} != dict(page):
                self._show({"figures": [], **page})

    def figure(
        self, key: str, source: Source, payload: bytes, *, title: str = "", beside: str = "", adds: bool = False
    ) -> None:
        """Add a component with this payload, an optional title and the text ``beside`` it.

        ``adds``: append the payload to the earlier ones.
        """
        with self._lock:
            self._mounted.append(key)
            held = self._figures.get(key)
            name = {"title": title, "beside": beside}
            digest = hashlib.sha256(json.dumps(name).encode("ascii") + payload).digest()
            version = self._source(source)
            if held is not None and held.version == version and held.digest == digest:
                return
            if held is None or held.version != version or not adds or len(held.parts) >= MOST_PARTS:
                held = self._figures[key] = _Figure(source.name, version)
                self._points.pop(key, None)
            if key not in self._stage["figures"]:
                self._show({**self._stage, "figures": [*self._stage["figures"], key]})
            head = {"key": key, **name, "component": source.name, "version": version, "adds": bool(held.parts)}
            self._number += 1
            held.digest = digest
            held.parts.append((self._number, framed(head, payload)))

    def settle(self, **more: Any) -> None:
        """End the page run: remove what it did not mount. ``more`` is what is shown beside the figures."""
        with self._lock:
            order = list(dict.fromkeys(self._mounted))
            self._show({**self._stage, **more, "figures": order})

    def point(self, key: str, at: Any) -> bool:
        """Set what is pointed at in a figure; returns False if there is no such figure."""
        with self._lock:
            if key not in self._stage["figures"]:
                return False
            self._number += 1
            self._points[key] = self._number, _json({"kind": "point", "key": key, "at": at})
            return True

    def say(self, what: str, value: Any) -> None:
        """Set an entry beside the page, sent as a frame of the kind ``what``."""
        with self._lock:
            self._number += 1
            self._said[what] = self._number, _json({"kind": what, **value})

    # -- sent to followers --------------------------------------------------------------------------------------------

    def since(self, number: int) -> tuple[int, list[str | bytes]]:
        """Return the number of the last change and a frame for each later one; a figure precedes what is pointed at in
        it.
        """
        with self._lock:
            found: list[str | bytes] = []
            if self._stage_at > number:
                found.append(_json({"kind": "stage", **self._stage}))
            for key in self._stage["figures"]:
                held = self._figures.get(key)
                parts = held.parts if held else []
                changed = [frame for at, frame in parts if at > number]
                found += changed
                at, frame = self._points.get(key, (-1, ""))
                if at > number or (changed and at >= 0):  # also repeated after its figure was drawn again
                    found.append(frame)
            found += [frame for at, frame in self._said.values() if at > number]
            return self._number, found

    def _show(self, stage: SENT) -> None:
        if stage == self._stage:
            return
        self._number += 1
        self._stage, self._stage_at = stage, self._number
        for key in set(self._figures) - set(stage["figures"]):
            del self._figures[key]
            self._points.pop(key, None)

    def _source(self, source: Source) -> str:
        self.sources[source.name] = source
        return version_of(source)


_VERSIONS: dict[int, tuple[Source, str]] = {}


def version_of(source: Source) -> str:
    """A version that changes with the component's text, also between server processes."""
    held = _VERSIONS.get(id(source))
    if held is None or held[0] is not source:
        digest = hashlib.sha256((source.js + source.css + source.html).encode("utf-8")).hexdigest()[:16]
        held = _VERSIONS[id(source)] = source, digest
    return held[1]


def framed(head: Mapping[str, Any], payload: bytes) -> bytes:
    """A binary frame: the head's length as little-endian uint32, the head as JSON, the payload gzipped."""
    told = json.dumps(head).encode("ascii")
    return struct.pack("<I", len(told)) + told + gzip.compress(payload, 1, mtime=0)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))  # ASCII, so that a token's lone surrogate becomes an escape
