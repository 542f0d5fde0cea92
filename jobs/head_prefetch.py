"""The map of another head of what a page shows, for its browser at once: the page itself runs meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from jobs.tile_tickets import TICKETS, TileTickets
from model_runner.errors import UserFacingError

T = TypeVar("T")
Draw = Callable[[int, int], bytes]


class HeadPrefetch:
    """Answers for a session as long as it is open; what is asked for as the page was before is refused."""

    def __init__(self, desk: TileTickets = TICKETS) -> None:
        self._desk, self._lock = desk, threading.Lock()
        self._making = threading.Lock()
        self._made: tuple[object, object] | None = None
        self._number = 0
        self._way: object = None
        self._draw: Draw | None = None
        self.ticket = desk.open(self)

    def show(self, way: object, draw: Draw) -> int:
        """The page shows heads in this way now, and ``draw`` any of them, by layer and head. The way's number."""
        with self._lock:
            if way != self._way or self._draw is None:
                self._number += 1
            self._way, self._draw = way, draw
            return self._number

    def once(self, key: object, make: Callable[[], T]) -> T:
        """What ``make`` gives, for the browser and for the page's run: whoever comes second takes the first's."""
        with self._making:
            if self._made is None or self._made[0] != key:
                self._made = key, make()
            return self._made[1]  # type: ignore[return-value]  # equal keys are of one kind

    def close(self) -> None:
        """Nobody is answered any more."""
        self._desk.close(self.ticket)
        with self._lock:
            self._draw = self._made = None

    def answer(self, what: str, numbers: tuple[int, ...]) -> bytes:
        """A "head" (way, layer, head) as its component is given it; nothing for what there is not, or not now.

        Raises LookupError for what is no head.
        """
        if what != "head" or len(numbers) != 3:
            raise LookupError(what)
        with self._lock:
            draw = self._draw if numbers[0] == self._number else None
        try:
            return b"" if draw is None else draw(*numbers[1:])
        except UserFacingError:
            return b""
