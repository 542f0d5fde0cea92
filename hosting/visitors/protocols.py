"""Limits on how a hosted server reads from its sockets, in size and in time.

Parts of uvicorn (0.54) that Streamlit (1.67) starts are replaced by name: its HTTP protocol (h11), its WebSocket
protocol (websockets 17, sans-I/O) and its event loop. Only this file depends on their internals.
"""

from __future__ import annotations

import asyncio
import functools
import socket
from asyncio import sslproto
from collections.abc import Callable
from typing import Any

from uvicorn.config import HTTP_PROTOCOLS, LOOP_FACTORIES, WS_PROTOCOLS
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from hosting import settings
from hosting.meter import METER
from hosting.open_connections import CountingListener, OpenConnections
from hosting.settings import Settings

TALK = "/classroom/talk"  # of a room, see classroom/routes.py
LONGEST_TALK, LONGEST = 2**12, 2**21  # bytes: largest message of a room, and largest that Streamlit's page sends
MOST_PIECES = 1000  # fragments of a message: even an empty one costs memory, which no length limit counts
TOO_BIG = 1009
TLS_BUFFER = 2**15  # bytes per connection, two TLS records; asyncio (3.11) would allocate and fill 256 KB


def use_bounds() -> None:
    """Replace uvicorn's protocols and event loop by ours, under the names by which Streamlit uses them."""
    here = __name__
    HTTP_PROTOCOLS["auto"] = f"{here}:BoundedHTTP"
    WS_PROTOCOLS["websockets-sansio"] = f"{here}:BoundedWebSocket"
    LOOP_FACTORIES["auto"] = f"{here}:loop_factory"
    sslproto.SSLProtocol.max_size = TLS_BUFFER


def loop_factory(use_subprocess: bool = False) -> Callable[[], asyncio.AbstractEventLoop]:
    """The event loop factory that uvicorn calls."""
    return lambda: BoundedLoop(hosted())


class BoundedLoop(asyncio.SelectorEventLoop):
    """An event loop whose servers count connections, and whose TLS handshakes have the host's timeout."""

    def __init__(self, given: Settings) -> None:
        super().__init__()
        self._hosted = given

    async def create_server(self, protocol_factory: Any, *args: Any, **more: Any) -> asyncio.Server:
        given: socket.socket | None = more.get("sock")
        if given is not None:
            more["sock"] = CountingListener(given, connections(), METER)
        if more.get("ssl"):
            more.setdefault("ssl_handshake_timeout", self._hosted.limits.handshake)
        return await super().create_server(protocol_factory, *args, **more)


@functools.cache
def connections() -> OpenConnections:
    """The connections of this server."""
    held = OpenConnections(hosted(), METER)
    METER.watch(connections=lambda: held.count)
    return held


class BoundedHTTP(H11Protocol):
    """Closes a connection that does not send its request in time. Answering has no time limit."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle and not self.cycle.response_complete:  # None before the first request
            self._waited()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # otherwise the next request had already arrived
            self._wait()

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._waited()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._waited()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waited()
        self._waiting = self.loop.call_later(hosted().limits.handshake, self._late)

    def _waited(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _late(self) -> None:
        METER.count("refused_total", 'by="handshake"')
        self.transport.abort()


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """Limits a message to its path's length, and the unfinished bytes of an address."""

    _address = ""
    _forwarded = False  # counted for the client that a proxy named
    _held = _queued = 0  # bytes of unfinished messages, and of messages that the app has not taken yet

    def handle_connect(self, event: Any) -> None:
        path = event.path.partition("?")[0]
        self.conn.max_message_size = LONGEST_TALK if path.endswith(TALK) else LONGEST
        self._address = peer = self.client[0] if self.client else ""
        if connections().is_proxy(peer):
            self._address = _named(self.config.forwarded_allow_ips, event.headers.get_all("X-Forwarded-For")) or peer
            self._forwarded = self._address != peer
            if self._forwarded and not connections().enter(self._address, forwarded=True):
                self._forwarded = False
                self.transport.abort()
                return
        super().handle_connect(event)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if len(self.frames) > MOST_PIECES or not self._hold():
            self.conn.fail(TOO_BIG)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.abort()

    def send_receive_event_to_app(self) -> None:
        self._queued += sum(map(len, self.frames))
        super().send_receive_event_to_app()

    async def receive(self) -> Any:
        message: Any = await super().receive()
        if message["type"] == "websocket.receive":
            data = message["bytes"] if "bytes" in message else message["text"]  # either may be empty
            self._queued = 0 if self.queue.empty() else self._queued - len(data)
            self._hold()
        return message

    def connection_lost(self, exc: Exception | None) -> None:
        self.conn.reader.buffer.clear()
        connections().hold(self._address, -self._held)
        self._held = 0
        if self._forwarded:
            connections().leave(self._address, forwarded=True)
            self._forwarded = False
        super().connection_lost(exc)

    def _hold(self) -> bool:
        if self.disconnected:
            return True
        now = len(self.conn.reader.buffer) + (self.conn.current_size or 0) + self._queued
        more, self._held = now - self._held, now
        return connections().hold(self._address, more)


def _named(trusted: Any, forwarded: list[str]) -> str:
    """The client that a proxy names, determined as uvicorn does for the app."""
    hosts = _proxies(trusted if isinstance(trusted, str) else ",".join(trusted or ()))
    return hosts.get_trusted_client_address(", ".join(forwarded))[0] if forwarded else ""


@functools.cache
def _proxies(trusted: str) -> Any:
    async def nothing(*_asked: Any) -> None: ...

    return ProxyHeadersMiddleware(nothing, trusted).trusted_hosts


def hosted() -> Settings:
    """The settings of this process, which hosting.serve started."""
    given = settings.current()
    assert given is not None
    return given
