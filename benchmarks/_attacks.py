"""Attacks on a class from another address: python -m benchmarks._attacks NAME URL CODE SECONDS.

Runs in its own process. Each attack is repeated until its time is over, from 127.0.0.2, so that limits per address
apply to it alone.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, WebSocketException

from benchmarks._followers import unverified
from tests.browser import ROOT

FROM = "127.0.0.2"
LONG = 190 * 2**20  # bytes that a frame announces, only part of which is sent
MB = 2**20
FAILS = (OSError, WebSocketException, TimeoutError)


class Target:
    """The server, and its room."""

    def __init__(self, url: str, code: str) -> None:
        address = urlsplit(url)
        self.url, self.code, self.port = url, code, address.port or 443
        self.origin: Any = f"{address.scheme}://{address.netloc}"  # typed as a string of its own
        self.secure = unverified() if address.scheme == "https" else None

    async def socket(self, path: str, **more: Any) -> ClientConnection:
        """Open a WebSocket to the server."""
        address = f"{self.url.replace('http', 'ws', 1)}{path}"
        given: dict[str, Any] = {
            "origin": self.origin,
            "ssl": self.secure,
            "local_addr": (FROM, 0),
            "open_timeout": 10,
            **more,
        }
        return await connect(address, **given)


async def unfinished_frames(target: Target) -> None:
    """One of sixteen sockets that send the beginning of a frame of 190 MB."""
    socket = await target.socket("/_stcore/stream", subprotocols=["streamlit"])
    head = bytes([0x82, 0xFF]) + LONG.to_bytes(8, "big") + bytes(4)
    transport: Any = socket.transport
    transport.write(head)
    for _ in range(16):
        transport.write(bytes(MB))
        await asyncio.sleep(0.1)
    await socket.wait_closed()


async def places(target: Target) -> None:
    """One of sixty sessions of the app."""
    async with await target.socket("/_stcore/stream", subprotocols=["streamlit"], max_size=None) as socket:
        message = BackMsg()
        message.rerun_script.query_string = f"text=one+two+{random.randrange(1000)}"
        await socket.send(message.SerializeToString())
        async with asyncio.timeout(20):
            while True:
                await socket.recv()


async def idle_sockets(target: Target) -> None:
    """One of seven hundred connections that start neither TLS nor a request."""
    _, writer = await asyncio.open_connection("127.0.0.1", target.port, local_addr=(FROM, 0))
    await asyncio.sleep(15)
    writer.close()


async def stuffed_votes(target: Target) -> None:
    """The vote of a phone that never joined."""
    async with await target.socket("/classroom/talk", max_size=None) as socket:
        await socket.send(json.dumps({"kind": "join", "code": target.code, "born": ""}))
        while True:
            told = await socket.recv()
            said = json.loads(told) if isinstance(told, str) else {}
            if said.get("kind") == "poll":
                vote = {"kind": "vote", "round": said.get("round", 0), "answer": "likelier", "name": ""}
                await socket.send(json.dumps(vote))
                await asyncio.sleep(0.1)
                return


async def talking(target: Target) -> None:
    """One of sixty sockets of the room that send invalid frames."""
    async with await target.socket("/classroom/talk", max_size=None) as socket:
        while True:
            await socket.send("x" * 3000)
            await asyncio.sleep(0.05)


ATTACKS: dict[str, tuple[int, Callable[[Target], Awaitable[None]]]] = {
    "unfinished frames of 190 MB, 16 sockets": (16, unfinished_frames),
    "60 sessions from one address": (60, places),
    "700 sockets that begin no TLS": (700, idle_sockets),
    "votes of phones that are none, 20 at a time": (20, stuffed_votes),
    "60 sockets that talk nonsense": (60, talking),
}


def started(name: str, url: str, code: str, seconds: float) -> subprocess.Popen[bytes]:
    """Start the attack of this name in its own process, for this many seconds."""
    command = [sys.executable, "-m", "benchmarks._attacks", name, url, code, str(seconds)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)


async def _again(target: Target, attack: Callable[[Target], Awaitable[None]], until: float) -> None:
    while time.monotonic() < until:
        with suppress(*FAILS, InvalidHandshake):
            async with asyncio.timeout(until - time.monotonic() + 0.1):
                await attack(target)
        await asyncio.sleep(0.2 + 0.3 * random.random())


async def _all(name: str, target: Target, seconds: float) -> None:
    count, attack = ATTACKS[name]
    until = time.monotonic() + seconds
    await asyncio.gather(*(_again(target, attack, until) for _ in range(count)))


if __name__ == "__main__":
    asyncio.run(_all(sys.argv[1], Target(sys.argv[2], sys.argv[3]), float(sys.argv[4])))
