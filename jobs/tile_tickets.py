"""Tickets with which browsers request maps and tiles by HTTP, each belonging to one session.

A ticket is 256 random bits that stand for one text as one session sees it. That session's page and the phones that
follow it receive it over their own connections and send it as a header: no URL, history or log contains it, and a page
from another origin cannot send one. This module does not use torch, because the server imports it before the engine.
"""

from __future__ import annotations

import secrets
import threading
from http import HTTPStatus
from typing import Protocol

MOST_DIGITS = 9  # of a number in a URL


class Answering(Protocol):
    """Whoever answers the requests of a ticket."""

    def answer(self, what: str, numbers: tuple[int, ...]) -> bytes:
        """The bytes of this part. Raises LookupError if there is none."""
        ...


class TileTickets:
    """The valid tickets. Thread-safe."""

    def __init__(self) -> None:
        self._held: dict[str, Answering] = {}
        self._lock = threading.Lock()

    def open(self, answering: Answering) -> str:
        """Create a ticket."""
        ticket = secrets.token_urlsafe(32)
        with self._lock:
            self._held[ticket] = answering
        return ticket

    def close(self, ticket: str) -> None:
        """Revoke the ticket."""
        with self._lock:
            self._held.pop(ticket, None)

    def answer(self, ticket: str, place: str) -> tuple[int, bytes]:
        """Status and body for ``place``, such as "tile/3/5/0/0/0": 403 without a valid ticket, 404 if unknown."""
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


TICKETS = TileTickets()  # of this server; shared by its routes and the sessions' pages
