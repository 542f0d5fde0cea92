"""Sends the browser the map of another head immediately, while the page itself runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from jobs.tile_tickets import TICKETS, TileTickets
from model_runner.errors import UserFacingError

T = TypeVar("T")
Draw = Callable[[int, int], bytes]


class HeadPrefetch:
    """Answers for a session while it is open; requests for an earlier state of the page are refused."""

    def __init__(self, desk: TileTickets = TICKETS) -> None:
        self._desk, self._lock = desk, threading.Lock()
        self._making = threading.Lock()
        self._made: tuple[object, object] | None = None
        self._number = 0
        self._way: object = None
        self._draw: Draw | None = None
        self.ticket = desk.open(self)

    def show(self, way: object, draw: Draw) -> int:
        """Set the page's state, in which ``draw`` draws any head by layer and head. Returns the state's number."""
        with self._lock:
            if way != self._way or self._draw is None:
                self._number += 1
            self._way, self._draw = way, draw
            return self._number

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Return ``make()``, computed once for the browser and the page's run, whichever comes first."""
        with self._making:
            if self._made is None or self._made[0] != key:
                self._made = key, make()
            return self._made[1]  # type: ignore[return-value]  # equal keys are of one kind

    def close(self) -> None:
        """Stop answering."""
        self._desk.close(self.ticket)
        with self._lock:
            self._draw = self._made = None

    def answer(self, what: str, numbers: tuple[int, ...]) -> bytes:
        """Return a "head" (state, layer, head) as its component's payload; empty if it does not exist or the state has
        changed.

        Raises LookupError for any other request.
        """
        if what != "head" or len(numbers) != 3:
            raise LookupError(what)
        with self._lock:
            draw = self._draw if numbers[0] == self._number else None
        try:
            return b"" if draw is None else draw(*numbers[1:])
        except UserFacingError:
            return b""
