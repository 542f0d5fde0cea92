"""What was made of long maps for whoever asked, as long as the captures are kept."""

from __future__ import annotations

import threading
import weakref
from weakref import WeakKeyDictionary

from jobs.head_tiles import TilesHere
from model_runner.capture import Capture

CAPTURES = 4  # whose tiles are kept, each within MOST bytes of jobs/head_tiles.py


class KeptTiles:
    """By capture; those of the capture that came first go first. Safe to use from several threads."""

    def __init__(self) -> None:
        self._held: WeakKeyDictionary[Capture, TilesHere] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, capture: Capture) -> TilesHere:
        """Its tiles, which do not keep it alive."""
        with self._lock:
            if capture not in self._held:
                while len(self._held) >= CAPTURES:
                    del self._held[next(iter(self._held))]
                self._held[capture] = TilesHere(weakref.proxy(capture))
            return self._held[capture]
