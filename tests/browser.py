"""Fixtures that run the app and open it, or a static page, in the machine's own Chromium.

`page` and `new_page()` fail a test that leaves an error in the console, or whose page asks for anything outside this
machine. Playwright's synchronous interface keeps an event loop running on the main thread, where asyncio.run() fails
from then on: conftest.py puts browser tests last.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    ViewportSize,
    expect,
    sync_playwright,
)

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 30_000  # ms; the first visit to a server loads the model, and only a test that fails waits for so long
DESK: ViewportSize = {"width": 1440, "height": 900}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",  # as root, which build machines are, Chromium starts only without it
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--ignore-certificate-errors",  # of a server of the tests with a certificate of its own; it reaches no other
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # a name outside is recorded, but not even looked up
]
# PageContext at a page's own address, Streamlit (1.67) looks for its server under that address first, then at the root.
_DEEP_LINK_PROBE = re.compile(r"^https?://127\.0\.0\.1:\d+/.+/_stcore/(health|host-config)$")


@dataclass(frozen=True)
class Server:
    """The running app."""

    url: str
    log: Path
    pid: int


@dataclass
class Watch:
    """What the pages of one test did. A test that provokes an error clears the list after looking at it."""

    requests: list[str] = field(default_factory=list[str])
    outside: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])

    def follow(self, context: BrowserContext) -> Callable[[], None]:
        """Record what every page that the context opens requests and reports, until the returned function is called."""
        heard: dict[Any, Callable[[Any], None]] = {
            "request": lambda request: self._requested(request.url),
            "console": self._console,
            "weberror": lambda error: self.errors.append(f"uncaught: {error.error}"),
            "page": lambda page: page.on("websocket", lambda connection: self._requested(connection.url)),
        }
        for event, handler in heard.items():
            context.on(event, handler)

        def leave() -> None:
            for event, handler in heard.items():
                context.remove_listener(event, handler)

        return leave

    def _requested(self, url: str) -> None:
        self.requests.append(url)
        address = urlsplit(url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname != "127.0.0.1":
            self.outside.append(url)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _DEEP_LINK_PROBE.match(message.location.get("url", "")):
            self.errors.append(f"console: {message.text} ({message.location.get('url', '')})")


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running_app(
    log: Path, *, script: Path = ROOT / "app.py", env: Mapping[str, str] | None = None, port: int | None = None
) -> Generator[Server]:
    """The app on a free port, offline; ended on leaving. A server that does not start fails with its log."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}", "--server.headless=true"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", **(env or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        server = Server(url=f"http://127.0.0.1:{port}", log=log, pid=process.pid)
        try:
            _wait_until_healthy(server, process)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_healthy(server: Server, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=1) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.05)
    pytest.fail(f"the app did not start; its log:\n{server.log.read_text(errors='replace')}", pytrace=False)


def find_chromium() -> str:
    """The path of the machine's Chromium. Without one the test is skipped, or with CI=true failed, with the reason."""
    for name in CHROMIUM:
        if found := shutil.which(name):
            return found
    reason = f"no Chromium on this machine (looked for {', '.join(CHROMIUM)}); on Debian: apt-get install chromium"
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app, running for the whole session; `.url` is its address, `.log` what it printed."""
    with running_app(tmp_path_factory.mktemp("server") / "log.txt") as running:
        yield running


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser session on disk, which keeps compiled scripts: in it a page opens with half the work."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        context = kept(playwright, tmp_path_factory.mktemp("profile"))
        yield context
        context.close()


def kept(playwright: Playwright, directory: Path) -> BrowserContext:
    """A browser whose session is kept in that folder."""
    return playwright.chromium.launch_persistent_context(
        directory, executable_path=find_chromium(), args=FLAGS, viewport=DESK, locale="en-US"
    )


@pytest.fixture(scope="session")
def browser(profile: BrowserContext) -> Browser:
    """The machine's Chromium."""
    assert profile.browser
    return profile.browser


@pytest.fixture
def watch() -> Watch:
    """What this test's pages requested and reported, as it happens."""
    return Watch()


@pytest.fixture
def requests_outside(watch: Watch) -> list[str]:
    """Addresses outside 127.0.0.1 that this test's pages asked for, as it happens; page fails on them by itself."""
    return watch.outside


@contextmanager
def as_new(profile: BrowserContext) -> Generator[Page]:
    """A page in the profile, which on leaving has no page, no cookie and nothing stored by a page any more."""
    addresses: set[str] = set()
    blank = profile.pages[0] if profile.pages else profile.new_page()  # without one the browser would end
    page = profile.new_page()
    page.on("framenavigated", lambda frame: addresses.add(frame.url))
    try:
        yield page
    finally:
        for page in profile.pages:
            if page != blank:
                page.close()
        profile.clear_cookies()
        session = profile.new_cdp_session(blank)
        for origin in {f"{one.scheme}://{one.netloc}" for one in map(urlsplit, addresses) if one.scheme[:4] == "http"}:
            types = {"origin": origin, "storageTypes": "local_storage,indexeddb"}
            session.send("Storage.clearDataForOrigin", types)
        session.detach()


@pytest.fixture
def new_page(browser: Browser, profile: BrowserContext, watch: Watch) -> Iterator[Callable[..., Page]]:
    """Open a page in a browser session of its own; takes Playwright's context options (viewport, color_scheme, ...).

    The first page of a test is one of the profile, left as if new, unless its options ask for more than those two.
    """
    with ExitStack() as sessions:
        profile_is_free = True

        def open_page(**options: Any) -> Page:
            nonlocal profile_is_free
            if profile_is_free and options.keys() <= {"viewport", "color_scheme"}:
                profile_is_free = False
                sessions.callback(watch.follow(profile))
                page = sessions.enter_context(as_new(profile))
                page.set_viewport_size(options.get("viewport", DESK))
                page.emulate_media(color_scheme=options.get("color_scheme", "light"))
                return page
            context = browser.new_context(**{"viewport": DESK, "locale": "en-US", **options})
            sessions.callback(context.close)
            watch.follow(context)
            return context.new_page()

        yield open_page
    left = [*watch.errors, *(f"left this machine: {url}" for url in watch.outside)]
    if left:
        pytest.fail("\n".join(left), pytrace=False)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A new page of 1440×900, in English, in light colours."""
    return new_page()


@pytest.fixture
def static_page(new_page: Callable[..., Page]) -> Callable[..., Page]:
    """Show this HTML in a new page, without a server; takes context options as new_page does."""

    def show(html: str, **options: Any) -> Page:
        page = new_page(**options)
        page.set_content(html)
        return page

    return show
