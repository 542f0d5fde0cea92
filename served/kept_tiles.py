"""Tiles of long maps, cached as long as their captures."""

from __future__ import annotations

import threading
import weakref
from weakref import WeakKeyDictionary

from jobs.head_tiles import TilesHere
from model_runner.capture import Capture

CAPTURES = 4  # captures whose tiles are cached, each within MOST bytes of jobs/head_tiles.py


class KeptTiles:
    """Tiles by capture; the oldest capture's are evicted first. Thread-safe."""

    def __init__(self) -> None:
        self._held: WeakKeyDictionary[Capture, TilesHere] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, capture: Capture) -> TilesHere:
        """The capture's tiles; the cache does not keep the capture alive."""
        with self._lock:
            if capture not in self._held:
                while len(self._held) >= CAPTURES:
                    del self._held[next(iter(self._held))]
                self._held[capture] = TilesHere(weakref.proxy(capture))
            return self._held[capture]
