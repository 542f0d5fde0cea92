"""What a room shows now, as frames for those who follow it.

Everything on it has the number of its last change. A follower has seen all up to some number and is sent what changed
since: who comes late, comes back or is slow gets the present, and nothing waits in a queue for anybody. A figure is
what the teacher's page mounted, under its key: the name of a component and the bytes it was given, packed once for all.
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

MOST_PARTS = 2000  # of a figure that grows
SENT = dict[str, Any]


@dataclass
class _Figure:
    """A component and its data, in parts where it grows: each with its number, and as a frame."""

    component: str
    version: str
    digest: bytes = b""  # of the newest
    parts: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])


class SharedFigures:
    """Safe to use from several threads."""

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
        """Of the last change."""
        return self._number

    # -- what the teacher's page does ---------------------------------------------------------------------------------

    def turn(self, page: Mapping[str, str]) -> None:
        """A run of a page begins; of another page than the last one, nothing is left."""
        with self._lock:
            self._mounted = []
            if {name: self._stage.get(name) for name in page} != dict(page):
                self._show({"figures": [], **page})

    def figure(
        self, key: str, source: Source, payload: bytes, *, title: str = "", beside: str = "", adds: bool = False
    ) -> None:
        """A component was mounted with these bytes, under a title or none, with words ``beside`` it.

        ``adds``: to those it was given before.
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
        """The run has come to its end: what it did not mount is gone; ``more`` is what is said beside the figures."""
        with self._lock:
            order = list(dict.fromkeys(self._mounted))
            self._show({**self._stage, **more, "figures": order})

    def point(self, key: str, at: Any) -> bool:
        """What is pointed at in a figure; whether there is this figure."""
        with self._lock:
            if key not in self._stage["figures"]:
                return False
            self._number += 1
            self._points[key] = self._number, _json({"kind": "point", "key": key, "at": at})
            return True

    def say(self, what: str, value: Any) -> None:
        """Something beside the page, a frame of the kind ``what``, until it is said otherwise."""
        with self._lock:
            self._number += 1
            self._said[what] = self._number, _json({"kind": what, **value})

    # -- what followers are sent --------------------------------------------------------------------------------------

    def since(self, number: int) -> tuple[int, list[str | bytes]]:
        """The number of the last change, and a frame for all that changed after this one; a figure before its point."""
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
                if at > number or (changed and at >= 0):  # drawn anew, it is pointed at again
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
    """A name of its text; a server started anew may have another."""
    held = _VERSIONS.get(id(source))
    if held is None or held[0] is not source:
        digest = hashlib.sha256((source.js + source.css + source.html).encode("utf-8")).hexdigest()[:16]
        held = _VERSIONS[id(source)] = source, digest
    return held[1]


def framed(head: Mapping[str, Any], payload: bytes) -> bytes:
    """A binary frame: a little-endian uint32 with the head's length, the head as JSON, the payload by gzip."""
    told = json.dumps(head).encode("ascii")
    return struct.pack("<I", len(told)) + told + gzip.compress(payload, 1, mtime=0)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))  # ASCII: a lone surrogate of a token is an escape
