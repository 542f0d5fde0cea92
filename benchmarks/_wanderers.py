"""Sessions of the app without a browser, in a process of their own: python -m benchmarks._wanderers PORT COUNT SECONDS.

Each speaks Streamlit's own protocol (1.67): every PACE seconds it goes to another URL, like the browser's Back, which
runs the whole page: another head six times out of ten, another text, another page. For each action, a line with its
duration is printed: from the request to the end of the run, with every message received. Drawing in a browser is not
included.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests.browser import ROOT

PACE = 10.0  # seconds from one action to the next
PAGES = ("", "cell", "positions", "next_token", "masks", "sharing", "steps", "block")
SENTENCES = (
    "The dog chased the squirrel because it was hungry",
    "When Mary and John went to the store, John gave a drink to",
    "The capital of France is Paris and the capital of Italy is",
    "One two three four one two three four one two",
    "She opened the old book that her grandmother had left on the table",
)


def started(port: int, count: int, seconds: float) -> subprocess.Popen[str]:
    """``count`` sessions, in their own process, for this many seconds."""
    command = [sys.executable, "-m", "benchmarks._wanderers", str(port), str(count), str(seconds)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def took(process: subprocess.Popen[str]) -> list[float]:
    """Seconds of every action."""
    output, _ = process.communicate()
    return [json.loads(line) for line in output.splitlines()]


async def looks(port: int, seconds: float) -> None:
    """One session that opens the app and goes to another head. Raises TimeoutError if that takes longer."""
    async with asyncio.timeout(seconds), _connected(port) as socket:
        place = {"text": SENTENCES[0]}
        pages = await _look(socket, place, "")
        await _look(socket, place | {"layer": "1", "head": "1"}, pages[""])


async def _all(port: int, count: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    everybody = await asyncio.gather(*(_wander(port, number / count, until) for number in range(count)))
    for found in everybody:
        for one in found:
            print(json.dumps(one))


async def _wander(port: int, phase: float, until: float) -> list[float]:
    times: list[float] = []
    place = {"text": random.choice(SENTENCES)}
    page = ""
    await asyncio.sleep(phase * PACE)  # spreads the actions of sessions over time
    async with _connected(port) as socket:
        pages = await _look(socket, place, "")  # the first visit does not count as an action
        while time.monotonic() < until:
            begun = time.monotonic()
            chance = random.random()
            if chance < 0.6:
                place |= {"layer": str(random.randrange(8)), "head": str(random.randrange(8))}
            elif chance < 0.8:
                place["text"] = f"{random.choice(SENTENCES)} {random.randrange(1000)}"
            else:
                page = random.choice(PAGES)
            await _look(socket, place, pages[page])
            times.append(time.monotonic() - begun)
            await asyncio.sleep(max(0.0, begun + PACE - time.monotonic()))
    return times


def _connected(port: int) -> connect:
    origin: Any = f"http://127.0.0.1:{port}"  # typed as a string of its own
    protocols: Any = ["streamlit"]
    given: dict[str, Any] = {"origin": origin, "subprotocols": protocols, "max_size": None, "open_timeout": 60}
    return connect(f"ws://127.0.0.1:{port}/_stcore/stream", **given)


async def _look(socket: ClientConnection, place: dict[str, str], page: str) -> dict[str, str]:
    """Request an address, and wait until its run has ended; returns the hash of every page by its address."""
    message = BackMsg()
    asked = message.rerun_script
    asked.query_string, asked.page_script_hash, asked.is_history_navigation = urlencode(place), page, True
    await socket.send(message.SerializeToString())
    pages: dict[str, str] = {}
    while True:
        told = ForwardMsg()
        told.ParseFromString(bytes(await socket.recv(decode=False)))
        if told.WhichOneof("type") == "navigation":
            found = told.navigation.app_pages
            pages = {"" if one.is_default else one.url_pathname: one.page_script_hash for one in found}
        if told.WhichOneof("type") == "delta" and told.delta.new_element.WhichOneof("type") == "exception":
            sys.exit(told.delta.new_element.exception.message)
        if told.WhichOneof("type") == "script_finished" and told.script_finished in (
            ForwardMsg.FINISHED_SUCCESSFULLY,
            ForwardMsg.FINISHED_WITH_COMPILE_ERROR,
        ):
            return pages


if __name__ == "__main__":
    asyncio.run(_all(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
