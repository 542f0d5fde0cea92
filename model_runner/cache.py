"""Captures by request, the least recently used forgotten first, bounded in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict

from model_runner.capture import Capture
from model_runner.request import CaptureRequest


class CaptureCache:
    """At most ``max_bytes`` of captures; one larger than that is not kept at all. Safe to use from several threads."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._held: OrderedDict[CaptureRequest, Capture] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(capture.nbytes for capture in self._held.values())

    def get(self, request: CaptureRequest) -> Capture | None:
        with self._lock:
            capture = self._held.get(request)
            if capture is not None:
                self._held.move_to_end(request)
            return capture

    def put(self, request: CaptureRequest, capture: Capture) -> None:
        if capture.nbytes > self.max_bytes:
            return
        with self._lock:
            self._held[request] = capture
            self._held.move_to_end(request)
            while sum(held.nbytes for held in self._held.values()) > self.max_bytes:
                self._held.popitem(last=False)
