"""The app hosted for a school, as docs/hosting.md says, in a process of its own."""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path

import pytest
from playwright.sync_api import Page

from hosting.settings import VARIABLE
from tests.browser import ROOT, free_port
from tests.pages.visiting import wait_for_rest
from tests.visitors.oidc_provider import CLIENT, SECRET, Provider, oidc_provider
from tests.visitors.own_certificate import own_certificate, trusting

FILE = """
[server]
port = {port}
url = "https://127.0.0.1:{port}/atlas"
certificate = "{certificate}"
key = "{key}"
local_port = {local}
[models]
listed = ["default", "encoder", "translator"]
[limits]
text = 2000
sessions = {sessions}
[sign_in]
metadata = "{metadata}"
client = "{client}"
client_secret_file = "{secret}"
teachers = ["@school.org"]
"""


@dataclass(frozen=True)
class Hosted:
    """The running server."""

    url: str
    local: int
    log: Path
    folder: Path
    provider: Provider
    trust: ssl.SSLContext

    def get(self, path: str) -> HTTPResponse:
        """The server's answer to somebody who believes its certificate alone."""
        return urllib.request.urlopen(f"{self.url}/{path}", context=self.trust)

    def metrics(self) -> str:
        return urllib.request.urlopen(f"http://127.0.0.1:{self.local}/metrics").read().decode()


@contextmanager
def hosted_app(folder: Path, *, sessions: int) -> Generator[Hosted]:
    """``make serve`` of a file of settings: a certificate of its own, the base path /atlas, a provider for teachers.

    It has places for so many ``sessions``; files and log are in ``folder``.
    """
    port, local = free_port(), free_port()
    (folder / "secret").write_text(SECRET + "\n")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TMPDIR": str(folder)}
    environment.pop(VARIABLE, None)
    with oidc_provider(email="ada@school.org", name="Ada", email_verified=True) as provider:
        settings = folder / "hosting.toml"
        secret = folder / "secret"
        certificate, key = own_certificate(folder)
        values = {"port": port, "local": local, "metadata": provider.metadata, "client": CLIENT, "secret": secret}
        settings.write_text(FILE.format(**values, certificate=certificate, key=key, sessions=sessions))
        with (folder / "log.txt").open("wb") as output:
            command = [sys.executable, "-m", "hosting.serve", str(settings)]
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            url, trust = f"https://127.0.0.1:{port}/atlas", trusting(certificate)
            held = Hosted(url, local, folder / "log.txt", folder, provider, trust)
            _wait_until_healthy(held, process)
            yield held
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:  # for half a minute it waits for a browser to close its TLS connections
                process.kill()
                process.wait()


def _wait_until_healthy(held: Hosted, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            if urllib.request.urlopen(f"http://127.0.0.1:{held.local}/healthz", timeout=1).status == 200:
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(held.log.read_text(errors="replace"), pytrace=False)


def opened(page: Page, address: str) -> Page:
    """The app at this address, once it rests."""
    page.goto(address)
    page.locator(".atlas-title").wait_for()
    wait_for_rest(page)
    return page
