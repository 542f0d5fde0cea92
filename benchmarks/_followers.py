"""Followers of a room, without a browser: python -m benchmarks._followers URL CODE COUNT ASLEEP, in its own process.

ASLEEP is roughly after how many seconds each follower's connection is lost; 0 means never. Each follower records when
it received what, answers a question at a random moment within VOTING seconds, and reconnects like a phone when its
connection is lost (viz/classroom/student.js), or after it has slept. When the room has ended, everything received is
printed, one line each.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import random
import ssl
import struct
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.browser import ROOT

PROCESSES = 4
VOTING = 2.0  # seconds
SOONEST, LATEST = 0.5, 4.0  # seconds before a lost connection is tried again, as on a phone
ASK_EACH = 8.0  # seconds after the server's last message before a ping, as in viz/classroom/line.js


@dataclass(frozen=True)
class Told:
    """What a follower received: a message's kind, the figure's key or the page's title; also each frame of a film."""

    who: str
    at: float  # seconds since the epoch
    kind: str
    of: str


def started(url: str, code: str, count: int, asleep: float = 0) -> list[subprocess.Popen[str]]:
    """``count`` followers of a room of this server, in a few processes; its certificate is not verified.

    They end with this process at the latest.
    """
    shares = [count // PROCESSES + (number < count % PROCESSES) for number in range(PROCESSES)]
    command = [sys.executable, "-m", "benchmarks._followers", url, code]
    processes = [
        subprocess.Popen([*command, str(share), str(asleep)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for share in shares
        if share
    ]
    for process in processes:
        atexit.register(process.kill)  # if the script fails, they would look for their server for ever
    return processes


def told(processes: list[subprocess.Popen[str]]) -> list[Told]:
    """What they received, once their room has ended."""
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    return [Told(*json.loads(line)) for output in outputs for line in output.splitlines()]


def mark_of(at: object) -> str:
    """A short name of what is pointed at in a figure, the same wherever it is received."""
    return f"{zlib.crc32(json.dumps(at, sort_keys=True).encode()):08x}"


def waits(
    at: float, within: float, heard: list[Told], kind: str, of: str | frozenset[str] | None = None
) -> list[float]:
    """For each follower that received this, or one of these, within so many seconds of a moment: how long it took."""
    first: dict[str, float] = {}
    sought = frozenset([of]) if isinstance(of, str) else of
    for one in heard:
        if at <= one.at < at + within and one.kind == kind and (sought is None or one.of in sought):
            first[one.who] = min(first.get(one.who, one.at), one.at)
    return [came - at for came in first.values()]


def unverified() -> ssl.SSLContext:
    """For a server on this machine, whose certificate is not signed."""
    secure = ssl.create_default_context()
    secure.check_hostname, secure.verify_mode = False, ssl.CERT_NONE
    return secure


async def _all(url: str, code: str, count: int, asleep: float) -> None:
    everybody = await asyncio.gather(*(_Follower(url, code, number, asleep).follow() for number in range(count)))
    for found in everybody:
        for one in found:
            print(json.dumps([one.who, one.at, one.kind, one.of]))


async def _next(socket: ClientConnection) -> str | bytes:
    """The server's next message, with a ping if it is silent for long. Raises ConnectionClosed."""
    while True:
        try:
            async with asyncio.timeout(ASK_EACH):
                return await socket.recv()
        except TimeoutError:
            await socket.send(json.dumps({"kind": "alive"}))


class _Follower:
    def __init__(self, url: str, code: str, number: int, asleep: float) -> None:
        server = urlsplit(url)
        self._origin: Any = f"{server.scheme}://{server.netloc}"  # typed as a string of its own
        self._address = f"{url.replace('http', 'ws', 1)}/classroom/talk"
        self._secure = unverified() if server.scheme == "https" else None
        self._code, self._cookie, self._born = code, "", ""
        self._name, self._told, self._over, self._tries = f"{os.getpid()} {number}", list[Told](), False, 0
        self._asleep, self._answered = asleep, 0

    async def follow(self) -> list[Told]:
        while not self._over:
            given: dict[str, Any] = {"origin": self._origin, "compression": None, "max_size": None, "open_timeout": 30}
            given["ssl"] = self._secure
            try:
                given["additional_headers"] = {"Cookie": self._cookie} if self._cookie else {}
                async with connect(self._address, **given) as socket:
                    answered = socket.response
                    given_cookie = answered.headers.get("Set-Cookie", "") if answered else ""
                    self._cookie = given_cookie.partition(";")[0] or self._cookie
                    async with asyncio.timeout(random.expovariate(1 / self._asleep) if self._asleep else None):
                        await self._join(socket)
                        while True:
                            await self._hear(socket, await _next(socket))
            except (OSError, ConnectionClosed, TimeoutError):
                pass  # as a phone handles it
            if not self._over:
                self._note("lost")
                await asyncio.sleep(min(LATEST, SOONEST * 2**self._tries) * random.uniform(0.75, 1.25))
                self._tries += 1
        return self._told

    async def _join(self, socket: ClientConnection) -> None:
        await socket.send(json.dumps({"kind": "join", "code": self._code, "born": self._born}))

    async def _hear(self, socket: ClientConnection, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            (length,) = struct.unpack("<I", frame[:4])
            zlib.decompress(frame[4 + length :], wbits=31)
            self._note("figure", json.loads(frame[4 : 4 + length])["key"])
            return
        said = json.loads(frame)
        self._note(said["kind"], said.get("key", said.get("title", "")))
        if said["kind"] == "voted":
            self._answered = said["round"]
        if said["kind"] == "point" and said["key"] == "film":
            self._note("frame", str(said["at"]["at"]))
        if said["kind"] == "point":
            self._note("hand", mark_of(said["at"]))
        if said["kind"] == "here":
            self._born, self._tries = said["born"], 0
        self._over |= bool(said.get("last"))
        if said["kind"] == "poll" and said["state"] == "open" and said["round"] != self._answered:
            await asyncio.sleep(random.random() * VOTING)
            vote = {"kind": "vote", "round": said["round"], "answer": "likelier", "name": ""}
            await socket.send(json.dumps(vote))

    def _note(self, kind: str, of: str = "") -> None:
        self._told.append(Told(self._name, time.time(), kind, of))


if __name__ == "__main__":
    asyncio.run(_all(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
