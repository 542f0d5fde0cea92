"""Invalid frames over both WebSockets of a hosted server: it continues, and its log does not quote them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from benchmarks import _wanderers
from tests.browser import free_port
from tests.fuzz.frames import of_room, of_stream
from tests.hosting.visitors.hosted import Hosted, hosted_app

COUNTS = [25, pytest.param(2000, marks=pytest.mark.long)]
EACH = 25  # frames of one connection; a server that closes one is dialled again
QUIET = 0.05  # seconds that an answer is waited for, before the connection is closed
PATIENCE = 60.0
REFUSED = "DecodeError"  # what Streamlit (1.67) logs of bytes that are none of its messages


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """Without TLS, which is not what is tried here, and with limits that let everything through."""
    port = free_port()
    server = {"port": port, "url": f"http://127.0.0.1:{port}", "certificate": "", "key": ""}
    limits = {"looks": 10**6, "requests": 10**7, "address_sessions": 100, "address_phones": 500, "forget": 5}
    more: Any = {"server": server, "limits": limits, "log": {"format": "json"}}
    with hosted_app(tmp_path_factory.mktemp("fuzzed"), sessions=100, **more) as held:
        yield held


async def _say(hosted: Hosted, path: str, frames: Iterable[str | bytes], subprotocols: list[Any] | None) -> int:
    """All of them; how many connections that took."""
    given: Any = {"origin": hosted.url, "subprotocols": subprotocols, "max_size": None, "open_timeout": PATIENCE}
    left, lines = iter(frames), 0
    while some := list(islice(left, EACH)):
        lines += 1
        async with connect(f"ws{hosted.url.removeprefix('http')}{path}", **given) as line:
            with suppress(ConnectionClosed):
                for frame in some:
                    await line.send(frame.encode("utf-8", "replace").decode() if isinstance(frame, str) else frame)
            with suppress(ConnectionClosed, TimeoutError):
                while True:
                    await asyncio.wait_for(line.recv(), QUIET)
    return lines


def _is_well(hosted: Hosted) -> None:
    """Somebody else's session runs, nothing failed, and each line of the log is an event that is no failure of ours."""
    asyncio.run(_wanderers.looks(urlsplit(hosted.url).port or 0, PATIENCE))
    assert "\natlas_failures_total" not in hosted.metrics()
    text = hosted.serving.log.read_text()
    events = [json.loads(line) for line in text.splitlines()]
    wrong = [one for one in events if one["level"] in ("error", "critical") and REFUSED not in one["message"]]
    assert wrong == []
    assert "Traceback" not in text
    assert "onerror" not in text


@pytest.mark.parametrize("count", COUNTS)
def test_no_frame_to_a_session_ends_more_than_its_own(hosted: Hosted, count: int):
    lines = asyncio.run(_say(hosted, "/_stcore/stream", of_stream(31, count), ["streamlit"]))
    assert lines >= count / EACH
    _is_well(hosted)


@pytest.mark.long
@pytest.mark.parametrize("count", COUNTS)
def test_no_frame_to_a_room_ends_more_than_its_own(hosted: Hosted, count: int):
    asyncio.run(_say(hosted, "/classroom/talk", of_room(32, count), None))
    _is_well(hosted)
