"""Invalid codes, answers, frames and texts, sent over a room's WebSocket as a student's page would."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from tests.browser import PATIENCE

QUIET = 0.3  # seconds after which nothing more is answered
LONGEST = 90.0  # seconds for one connection and all that is said over it


def say_what_is_refused(url: str, trust: ssl.SSLContext, code: str, word: str) -> None:
    """To the server at this address, whose certificate is trusted; ``word`` is in every frame, ``code`` a room's."""
    join = {"kind": "join", "code": code}
    first = [{**join, "code": word}, {**join, "born": word}, {"kind": word}]
    later: list[Any] = [
        {"kind": "vote", "round": 1, "answer": word, "name": word},
        {"kind": "vote", "round": word, "answer": "\ud800", "name": [word]},
        {"kind": "complete", "typed": word},
        {"kind": "point", "figure": word, "at": word},
        f'{{"kind": "{word}',
        word.encode(),
        word * 1000,
    ]
    for frames in ([one] for one in first):
        _in_time(url, trust, frames)
    _in_time(url, trust, [join, *later])
    _in_time(url, trust, [join, word.encode() + b"\xff"], text=True)  # no UTF-8


def _in_time(url: str, trust: ssl.SSLContext, frames: list[Any], *, text: bool | None = None) -> None:
    """In a thread of its own, where Playwright's loop is not; websockets' (17.4) client without a loop has threads too,
    for which it may wait for ever when a line is closed.
    """
    problems: list[Exception] = []

    def say() -> None:
        try:
            asyncio.run(asyncio.wait_for(_said(url, trust, frames, text=text), LONGEST))
        except (AssertionError, OSError, TimeoutError, WebSocketException) as error:
            problems.append(error)

    thread = threading.Thread(target=say, daemon=True)
    thread.start()
    thread.join(LONGEST + 10)
    assert not thread.is_alive(), f"still on its way after {LONGEST} s: {frames}"
    if problems:
        raise problems[0]


async def _said(url: str, trust: ssl.SSLContext, frames: list[Any], *, text: bool | None = None) -> None:
    """Each of them, of which the first is answered; until nothing more is said or the line is closed."""
    origin: Any = url.removesuffix("/atlas")
    async with connect(
        f"{url.replace('https', 'wss')}/classroom/talk", origin=origin, ssl=trust, open_timeout=PATIENCE / 1000
    ) as line:
        first, *others = (json.dumps(frame) if isinstance(frame, dict) else frame for frame in frames)
        await line.send(first)
        assert await asyncio.wait_for(line.recv(), 10)
        with suppress(ConnectionClosed, TimeoutError):
            for frame in others:
                await line.send(frame, text=text)
            while True:
                await asyncio.wait_for(line.recv(), QUIET)
