"""Where browsers ask for maps and parts of long ones by HTTP, each with the ticket of its own session.

A ticket is 256 random bits that stand for one text as one session sees it. It goes to that session's page, and to the
phones of those to whom it is shown in a room, over their own connections, and comes back as a header: no address,
history or log holds it, and a page from elsewhere cannot send one. Knows no torch: the server imports it before any
engine.
"""

from __future__ import annotations

import secrets
import threading
from http import HTTPStatus
from typing import Protocol

MOST_DIGITS = 9  # of a number in an address


class Answering(Protocol):
    """Who answers for a ticket."""

    def answer(self, what: str, numbers: tuple[int, ...]) -> bytes:
        """The bytes of this part. Raises LookupError for a part that there is not."""
        ...


class TileTickets:
    """Tickets that are valid now. Safe to use from several threads."""

    def __init__(self) -> None:
        self._held: dict[str, Answering] = {}
        self._lock = threading.Lock()

    def open(self, answering: Answering) -> str:
        """A new ticket."""
        ticket = secrets.token_urlsafe(32)
        with self._lock:
            self._held[ticket] = answering
        return ticket

    def close(self, ticket: str) -> None:
        """From now on the ticket is refused."""
        with self._lock:
            self._held.pop(ticket, None)

    def answer(self, ticket: str, place: str) -> tuple[int, bytes]:
        """Status and body for ``place``, as in "tile/3/5/0/0/0": 403 without a ticket, 404 for what is not there."""
        with self._lock:
            answering = self._held.get(ticket)
        if answering is None:
            return HTTPStatus.FORBIDDEN, b""
        what, *numbers = place.split("/")
        if not all(one.isascii() and one.isdigit() and len(one) <= MOST_DIGITS for one in numbers):
            return HTTPStatus.NOT_FOUND, b""
        try:
            return HTTPStatus.OK, answering.answer(what, tuple(map(int, numbers)))
        except LookupError:
            return HTTPStatus.NOT_FOUND, b""


TICKETS = TileTickets()  # of this server: its routes and the sessions' pages meet here
