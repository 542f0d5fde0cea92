"""Runs the app in a fresh process, with a probe in a real Chromium, for scripts that measure waiting times."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page

from tests.browser import ROOT, Watch, free_port

PROBE = Path(__file__).with_name("page_probe.js")
PAUSE = 300  # ms between two inputs, after the end of the script's run, since a user looks before the next click


def settle(page: Page) -> None:
    """Wait until the script has run to its end, and a little longer."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.wait_for_timeout(PAUSE)


@contextmanager
def opened_page(browser: Browser, watch: Watch) -> Generator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-US")
    watch.follow(context)
    context.add_init_script(PROBE.read_text())
    page = context.new_page()
    page.set_default_timeout(60_000)
    try:
        yield page
    finally:
        context.close()


@dataclass(frozen=True, eq=False)
class App:
    """The app in its own process."""

    port: int
    process: subprocess.Popen[bytes]
    spawned: float  # seconds since the epoch

    @property
    def url(self) -> str:
        """The URL without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    def open(self, page: Page, address: str = "/") -> None:
        """Open the page as soon as the server listens, as `make run` does."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    page.goto(f"http://127.0.0.1:{self.port}{address}", wait_until="commit")
                    return
            time.sleep(0.01)
        sys.exit("The app did not start; run `make run` to see why.")


@contextmanager
def running_app(watch: Watch, script: str = "app.py", port: int | None = None, **more: str) -> Generator[App]:
    """The app as a user starts it, or another script, with ``more`` in its environment; it may be killed meanwhile."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, f"--server.port={port}", "--server.headless=true"]
    left_out = ("HF_HUB_OFFLINE", "PYTHONDONTWRITEBYTECODE")  # a user's shell sets neither
    environment = {name: value for name, value in os.environ.items() if name not in left_out} | more
    with tempfile.TemporaryFile() as log:
        spawned = time.time()
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            yield App(port, process, spawned)
            alive = process.poll() is None
            for connection in psutil.Process(process.pid).net_connections("inet") if alive else []:
                if connection.raddr and connection.raddr.ip != "127.0.0.1":
                    watch.outside.append(f"the server is connected to {connection.raddr.ip}:{connection.raddr.port}")
        finally:
            process.terminate()
            process.wait(20)
