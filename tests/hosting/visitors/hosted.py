"""The app, hosted for a school as in docs/hosting.md, in a separate process."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from hosting.settings import VARIABLE
from tests.browser import ROOT, free_port
from tests.hosting.visitors.oidc_provider import CLIENT, SECRET, Provider, oidc_provider
from tests.hosting.visitors.own_certificate import own_certificate, trusting
from tests.pages.visiting import wait_for_rest

Sections = Mapping[str, Mapping[str, Any]]  # of a file of settings


class Serving:
    """``make serve`` of a file of settings, whose log is beside it; it can be killed and started again."""

    def __init__(self, settings: Path, local: int) -> None:
        """``local`` is the port at which it says that it is healthy."""
        self.local, self.log = local, settings.parent / "log.txt"
        self._command = [sys.executable, "-m", "hosting.serve", str(settings)]
        self._environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TMPDIR": str(settings.parent)}
        self._environment.pop(VARIABLE, None)
        self.start()

    def start(self) -> None:
        """Once it is back, the server is healthy."""
        with self.log.open("ab") as output:
            given: Any = {"cwd": ROOT, "env": self._environment, "stdout": output, "stderr": subprocess.STDOUT}
            self._process = subprocess.Popen(self._command, **given)
        until = time.monotonic() + 60
        while time.monotonic() < until and self._process.poll() is None:
            try:
                if urllib.request.urlopen(f"http://127.0.0.1:{self.local}/healthz", timeout=1).status == 200:
                    return
            except OSError:
                time.sleep(0.1)
        self.kill()
        pytest.fail(self.log.read_text(errors="replace"), pytrace=False)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Of the server's process."""
        return self._process.pid

    def kill(self) -> None:
        """Without a word, as a machine does that has no memory left."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:  # for half a minute it waits for a browser to close its TLS connections
            self.kill()


@dataclass(frozen=True)
class Hosted:
    """The running server; ``port`` is its own, ``url`` what visitors type."""

    url: str
    port: int
    serving: Serving
    folder: Path
    provider: Provider
    trust: ssl.SSLContext

    def get(self, path: str) -> HTTPResponse:
        """The server's answer to somebody who believes its certificate alone."""
        return urllib.request.urlopen(f"{self.url}/{path}", context=self.trust)

    def metrics(self) -> str:
        return urllib.request.urlopen(f"http://127.0.0.1:{self.serving.local}/metrics").read().decode()

    def is_nowhere(self, words: str) -> None:
        """In no log and no file of the server, whatever the case of its letters, and in none of its numbers."""
        wanted = words.lower().encode()
        found = [path for path in self.folder.rglob("*") if path.is_file() and wanted in path.read_bytes().lower()]
        assert not found, found
        assert words.lower() not in self.metrics().lower()


@contextmanager
def hosted_app(folder: Path, *, sessions: int, **more: Mapping[str, Any]) -> Generator[Hosted]:
    """``make serve`` of a file of settings: a certificate of its own, the base path /atlas, a provider for teachers.

    It has places for so many ``sessions``; ``more`` are settings by section. Files and log are in ``folder``.
    """
    port, local = free_port(), free_port()
    secret, certificate = folder / "secret", own_certificate(folder)
    secret.write_text(SECRET + "\n")
    with oidc_provider(email="ada@school.org", name="Ada", email_verified=True) as provider:
        usual: Sections = {
            "server": {
                "port": port,
                "url": f"https://127.0.0.1:{port}/atlas",
                "certificate": str(certificate[0]),
                "key": str(certificate[1]),
                "local_port": local,
            },
            "models": {"listed": ["default", "encoder", "translator"]},
            "limits": {"text": 2000, "sessions": sessions},
            "sign_in": {
                "metadata": provider.metadata,
                "client": CLIENT,
                "client_secret_file": str(secret),
                "teachers": ["@school.org"],
            },
        }
        given = {name: {**usual.get(name, {}), **more.get(name, {})} for name in {**usual, **more}}
        settings = folder / "hosting.toml"
        settings.write_text(_toml(given))
        serving = Serving(settings, local)
        try:
            yield Hosted(given["server"]["url"], port, serving, folder, provider, trusting(certificate[0]))
        finally:
            serving.end()


def _toml(sections: Sections) -> str:
    """Texts, numbers and lists of texts are written as JSON has them."""
    lines = (
        [f"[{name}]", *(f"{key} = {json.dumps(one)}" for key, one in held.items())] for name, held in sections.items()
    )
    return "\n".join(line for section in lines for line in section)


def opened(page: Page, address: str) -> Page:
    """The app at this address, once it rests."""
    page.goto(address)
    page.locator(".atlas-title").wait_for()
    wait_for_rest(page)
    return page
