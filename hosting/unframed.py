"""ASGI middleware of a single-user app: no other site may show it in a frame, where it could redirect clicks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
App = Callable[..., Awaitable[None]]

POLICY = (b"content-security-policy", b"frame-ancestors 'self' vscode-webview:")  # an editor's own browser may


class UnframedMiddleware:
    """Wraps an ASGI app; a policy that a response already has is kept."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Callable[[Message], Awaitable[None]]) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message["headers"])
                has = any(name.lower() == POLICY[0] for name, _ in given)
                message = {**message, "headers": given if has else [*given, POLICY]}
            await send(message)

        await self._app(scope, receive, answer)
