"""Draining a server: who may start it, when the server ends, and what the command prints."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from classroom.desk import RESTARTS, RoomDesk
from classroom.frames import Refused
from hosting.drain import LONGEST, Drain
from hosting.drain_client import main
from hosting.meter import Meter
from hosting.metrics_server import LocalServer, listen
from tests.browser import ROOT, free_port


@pytest.fixture
def drain() -> Drain:
    return Drain()


@pytest.fixture
def port(drain: Drain) -> Iterator[int]:
    found = free_port()
    server = listen(found, Meter(), lambda: True, drain)
    yield found
    server.shutdown()
    server.server_close()


def ordered(port: int, query: str = "", method: str = "POST", **headers: str) -> tuple[int, str]:
    """Status and words."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/drain{query}", method=method, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def test_a_server_ends_when_nobody_is_busy_or_after_its_time():
    now = [0.0]
    drain = Drain(lambda: now[0])
    assert not drain.is_over(busy=False)  # nobody ordered it
    drain.begin(10)
    assert (drain.begun, drain.minutes_left) == (True, 10)
    assert not drain.is_over(busy=True)
    assert drain.is_over(busy=False)
    now[0] = 9.5 * 60
    assert drain.minutes_left == 1
    assert not drain.is_over(busy=True)
    now[0] = 10 * 60
    assert drain.is_over(busy=True)
    drain.cancel()
    assert not drain.is_over(busy=False)


def test_the_local_port_takes_the_order_and_health_says_so(port: int, drain: Drain):
    assert ordered(port, "?minutes=30") == (202, "draining, 30 minutes at most\n")
    assert drain.minutes_left == 30
    assert urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz").read() == b"draining\n"
    assert ordered(port, method="DELETE") == (200, "not draining\n")
    assert urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz").read() == b"ok\n"
    assert ordered(port)[0] == 202
    assert drain.minutes_left == 90
    assert ordered(port, "?minutes=1") == (202, "draining, 1 minute at most\n")
    assert ordered(port, "?minutes=0") == (202, "draining, 0 minutes at most\n")


@pytest.mark.parametrize("minutes", ["x", "-1", "soon", "1.5", "²", str(LONGEST + 1), "9" * 5000])
def test_a_time_that_is_none_is_refused(port: int, drain: Drain, minutes: str):
    status, words = ordered(port, f"?minutes={quote(minutes)}")
    assert (status, words) == (400, f"minutes must be a whole number from 0 to {LONGEST}.\n")
    assert not drain.begun


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.org"}, {"Referer": "https://evil.org/"}, {"Host": "evil.org:9464"}]
)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_page_in_a_browser_of_this_machine_may_order_nothing(port: int, drain: Drain, method: str, headers):
    drain.begin(5)
    assert ordered(port, "?minutes=0", method, **headers)[0] == 403
    assert drain.minutes_left == 5


def test_the_command_orders_cancels_and_says_when_nobody_is_there(port: int, drain: Drain, tmp_path, capsys):
    file = tmp_path / "hosting.toml"
    file.write_text(f"[server]\nlocal_port = {port}")
    assert main([str(file), "--minutes", "7", "--no-wait"]) == 0
    assert drain.minutes_left == 7
    assert main([str(file), "--minutes", "soon"]) == 1
    assert main([str(file), "--cancel"]) == 0
    assert not drain.begun
    file.write_text(f"[server]\nlocal_port = {free_port()}")
    assert main([str(file)]) == 1
    file.write_text("[server]\nlocal_port = 0")
    assert main([str(file)]) == 1
    assert main([str(tmp_path / "none.toml")]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "draining, 7 minutes at most"
    assert said[1].startswith("minutes must be")
    assert said[2] == "not draining"
    assert said[3].startswith("No server of these settings runs here")
    assert said[4] == "server.local_port is 0: this server cannot be told to drain."
    assert said[5].endswith("No such file or directory.")


@contextmanager
def waiting(folder: Path, port: int) -> Generator[subprocess.Popen[str]]:
    """The command of docs/hosting.md, which waits for the server at this local port to end."""
    file = folder / "waiting.toml"
    file.write_text(f"[server]\nlocal_port = {port}")
    given: Any = {"cwd": ROOT, "stdout": subprocess.PIPE, "text": True}
    command = subprocess.Popen([sys.executable, "-m", "hosting.drain_client", str(file), "--minutes", "7"], **given)
    try:
        assert command.stdout is not None
        assert command.stdout.readline() == "draining, 7 minutes at most\n"
        yield command
    finally:
        command.kill()
        command.wait()


def test_a_command_that_waits_fails_when_another_one_cancels(port: int, drain: Drain, tmp_path: Path):
    """Else whoever restarts the server after it interrupts the lesson that goes on."""
    with waiting(tmp_path, port) as command:
        time.sleep(1.5)
        assert command.poll() is None
        drain.cancel()
        said, _ = command.communicate(timeout=20)
        assert said == "Draining was cancelled, and the server goes on: do not restart it now.\n"
        assert command.returncode == 1


def test_a_command_that_waits_succeeds_when_the_server_has_ended(drain: Drain, tmp_path: Path):
    port = free_port()
    server = listen(port, Meter(), lambda: True, drain)
    with waiting(tmp_path, port) as command:
        server.shutdown()
        server.server_close()
        said, _ = command.communicate(timeout=20)
        assert (said, command.returncode) == ("The server has ended.\n", 0)


@pytest.mark.parametrize("trouble", ["stuck", "cut off"])
def test_a_command_waits_for_a_server_that_is_in_trouble(drain: Drain, tmp_path: Path, monkeypatch, trouble: str):
    """It has not ended: it answers no more for a while, or ends the connection without a word."""
    port, healthy = free_port(), threading.Event()
    healthy.set()
    server = listen(port, Meter(), healthy.is_set, drain)
    with waiting(tmp_path, port) as command:
        if trouble == "stuck":
            healthy.clear()
        else:
            monkeypatch.setattr(LocalServer, "finish_request", lambda *_given: None)
        time.sleep(2.5)
        assert command.poll() is None
        server.shutdown()
        server.server_close()
        said, _ = command.communicate(timeout=20)
        assert (said, command.returncode) == ("The server has ended.\n", 0)


def test_rooms_that_are_open_stay_and_no_other_is_opened():
    desk = RoomDesk()
    room = desk.open()
    desk.opens = False
    with pytest.raises(Refused, match=RESTARTS):
        desk.open()
    assert desk.back(room.key) is room
    assert desk.count == 1
    desk.opens = True
    desk.open()
    assert desk.count == 2
