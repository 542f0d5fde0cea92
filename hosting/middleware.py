"""The outermost ASGI middleware of a hosted server: refusals, rate limits, and headers of every response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from hosting.login_redirect import with_return_page
from hosting.meter import Meter
from hosting.open_connections import source
from hosting.policy import cookie, headers
from hosting.rates import Rates
from hosting.settings import Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Streamlit's own routes (1.67): uploads, metrics, and those that drive an app without a browser.
CLOSED = ("/_stcore/upload_file", "/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check", "/component")
FILES = ("/static/", "/scripts/")  # static files, which browsers cache and which cost nothing
POLICY_VIOLATION, NO_BYTES = 1008, 1003  # close codes for a refused WebSocket, and for text where bytes are expected
STREAM = "/_stcore/stream"  # Streamlit's (1.67), which fails with a KeyError on a text frame

SENTENCES = {
    "closed": "This address is closed on a hosted server.",
    "host": "This server is reached by another address.",
    "method": "Only GET and HEAD are answered here.",
    "requests": "There were too many requests from your network in a minute: wait a little, then load the page again.",
}


class HostedMiddleware:
    """Wraps an ASGI app.

    Above the rate limit, requests are refused with a sentence, and WebSocket messages are delayed.
    """

    def __init__(self, app: App, settings: Settings, meter: Meter, page: str) -> None:
        """``page`` is the HTML with which the app is loaded."""
        self._app, self._server, self._meter = app, settings.server, meter
        self._rates = Rates(settings.limits.requests)
        self._headers = headers(settings.server, page)
        self._host = urlsplit(settings.server.public).netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    # -- HTTP ----------------------------------------------------------------------------------------------------------

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._meter.count("requests_total", f'status="{message["status"] // 100}xx"')
                message = {**message, "headers": self._with_ours(scope, message["headers"])}
            await send(message)

        refused, wait = self._refused(scope)
        if not refused:
            await self._app(scope, receive, answer)
            return
        self._meter.count("refused_total", f'by="{refused}"')
        body, status = SENTENCES[refused].encode(), _STATUS[refused]
        found = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        found += [(b"retry-after", str(int(wait) + 1).encode())] if wait else []
        await answer({"type": "http.response.start", "status": int(status), "headers": found})
        await answer({"type": "http.response.body", "body": body})

    def _refused(self, scope: Scope) -> tuple[str, float]:
        path = scope["path"].removeprefix(self._server.base)
        if _header(scope, b"host") != self._host:
            return "host", 0
        if scope["method"] not in ("GET", "HEAD"):
            return "method", 0
        if path.startswith(CLOSED):
            return "closed", 0
        wait = 0.0 if path.startswith(FILES) else self._rates.ask(_who(scope))
        return ("requests", wait) if wait else ("", 0)

    def _with_ours(self, scope: Scope, given: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Add our headers where the response does not have them; the student page's own policy is stricter than the
        app's.
        """
        path = scope["path"].removeprefix(self._server.base)
        given = with_return_page(path, scope["headers"], given, self._server.origin, self._server.base)
        kept: list[tuple[bytes, bytes]] = []
        for name, value in given:
            if name.lower() == b"set-cookie":
                value = cookie(value.decode("latin-1"), secure=self._server.secure).encode("latin-1")
            kept.append((name, value))
        there = {name.lower() for name, _ in given}
        return kept + [(name.encode(), value.encode()) for name, value in self._headers if name.encode() not in there]

    # -- WebSockets ----------------------------------------------------------------------------------------------------

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accept a WebSocket only from a page of this server, by the Origin header that browsers always send."""
        if _header(scope, b"host") != self._host or _header(scope, b"origin") != self._server.origin:
            self._meter.count("refused_total", 'by="origin"')
            await receive()
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return

        closed = False

        async def paced() -> Message:
            nonlocal closed
            message = await receive()
            if message["type"] == "websocket.receive":
                if message.get("bytes") is None and scope["path"].endswith(STREAM):
                    self._meter.count("refused_total", 'by="text"')
                    closed = True
                    await send({"type": "websocket.close", "code": NO_BYTES})
                    return {"type": "websocket.disconnect", "code": NO_BYTES}
                while wait := self._rates.ask(_who(scope)):
                    await asyncio.sleep(wait)
            return message

        async def spoken(message: Message) -> None:
            if not closed:  # otherwise the app does not know of it yet
                await send(message)

        await self._app(scope, paced, spoken)


_STATUS = {
    "closed": HTTPStatus.NOT_FOUND,
    "host": HTTPStatus.MISDIRECTED_REQUEST,
    "method": HTTPStatus.METHOD_NOT_ALLOWED,
    "requests": HTTPStatus.TOO_MANY_REQUESTS,
}


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _who(scope: Scope) -> str:
    return source(scope["client"][0]) if scope.get("client") else ""
