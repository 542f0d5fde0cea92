"""A server with only rooms, which a test can kill and restart, and phones that connect to it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.browser import ROOT, free_port

BACK_IN = 10.0  # seconds after the teacher, by the issue; a look for a room comes twice a second


class Killable:
    """The server of one_server.py, on one port."""

    def __init__(self, folder: Path | None = None) -> None:
        self.port, self.folder = free_port(), folder
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.classroom.one_server", str(self.port)]
        command += [str(self.folder)] if self.folder else []
        self.process = subprocess.Popen(command, cwd=ROOT)
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self.get("join")
                return
            except OSError:
                time.sleep(0.05)
        pytest.fail("the server did not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=5) as answer:
            body = answer.read()
        return json.loads(body) if path != "join" else None

    def phone(self, code: str, born: str = "", cookie: str = "") -> ClientConnection:
        """``cookie`` is what it was given before, if it was here."""
        origin: Any = f"http://127.0.0.1:{self.port}"  # typed as a string of its own
        more: Any = {"additional_headers": {"Cookie": cookie}} if cookie else {}
        line = connect(
            f"ws://127.0.0.1:{self.port}/classroom/talk", origin=origin, close_timeout=1, legacy=True, **more
        )
        line.send(json.dumps({"kind": "join", "code": code, "born": born}))
        return line


def until(line: ClientConnection, kind: str, **facts: Any) -> dict[str, Any]:
    while True:
        told = json.loads(line.recv(BACK_IN))
        if told["kind"] == kind and all(told.get(name) == value for name, value in facts.items()):
            return told
