"""Arguments of ``st.App`` if the app is hosted; none in single-user mode."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import streamlit as st
from starlette.middleware import Middleware

from hosting import settings
from hosting.drain import DRAIN
from hosting.logs import OURS, keep_texts_out
from hosting.meter import METER
from hosting.metrics_server import listen
from hosting.middleware import HostedMiddleware
from hosting.open_connections import is_among, source
from hosting.settings import Settings, SignIn
from hosting.unframed import UnframedMiddleware
from hosting.visitors.entrance import entrance
from ui.wording.i18n import _

# seconds between two heartbeats of the server's event loop, and without one until it counts as stuck
BEAT, STUCK = 1.0, 10.0
MOST_PHONES = 500  # of a room, as in classroom/room.py
CALLBACK = "/oauth2callback"  # Streamlit's own (1.67)


class Rooms(Protocol):
    """The server's rooms: their number, and whether another may be opened."""

    opens: bool

    @property
    def count(self) -> int: ...


def options(rooms: Rooms) -> dict[str, Any]:
    """Keyword arguments of ``st.App``. Raises WrongSetting."""
    hosted = settings.current()
    if hosted is None:
        return {"middleware": [Middleware(UnframedMiddleware)]}
    keep_texts_out()
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return {
        "middleware": [Middleware(HostedMiddleware, settings=hosted, meter=METER, page=page)],
        "lifespan": lambda _app: _alive(hosted, rooms),
        "on_script_error": failed,
        "secrets": {"auth": _auth(hosted)} if hosted.sign_in.metadata else None,
    }


def phones_of(address: str) -> tuple[str, int]:
    """The source that a phone at this address counts for, and how many of them a room may have."""
    hosted = settings.current()
    if hosted is None or is_among(address, hosted.server.shared):
        return address, MOST_PHONES
    return source(address), hosted.limits.address_phones


def failed(_error: Exception) -> bool:
    """Show a sentence instead of the app's own error; the log has its location."""
    METER.count("failures_total")
    st.error(_("Something went wrong in the app itself. Your text is not lost: continue, or reload the page."))
    return True


@asynccontextmanager
async def _alive(hosted: Settings, rooms: Rooms) -> AsyncGenerator[None]:
    """Serve health, metrics and the drain command while the server runs."""
    entrance(hosted)
    if not hosted.server.local_port:
        yield
        return
    last = [time.monotonic()]
    beating = asyncio.create_task(_beat(hosted, rooms, last))
    local = listen(hosted.server.local_port, METER, lambda: time.monotonic() - last[0] < STUCK, DRAIN)
    OURS.info("The server is ready.")
    try:
        yield
    finally:
        OURS.info("The server ends.")
        local.shutdown()
        local.server_close()
        beating.cancel()


async def _beat(hosted: Settings, rooms: Rooms, last: list[float]) -> None:
    """Every second, record that the event loop runs, and end a draining server once nobody is active in it."""
    queue, ending = entrance(hosted).queue, False
    while True:
        last[0] = time.monotonic()
        rooms.opens = not DRAIN.begun
        if not ending and DRAIN.is_over(bool(queue.active or rooms.count)):
            ending = True
            OURS.info("Draining is over.")
            os.kill(os.getpid(), signal.SIGTERM)  # uvicorn exits as it does for the system
        await asyncio.sleep(BEAT)


def _auth(hosted: Settings) -> dict[str, str]:
    """The sign-in settings in the form of Streamlit's secrets."""
    held: SignIn = hosted.sign_in
    cookie = _secret(held.cookie_secret_file) if held.cookie_secret_file else secrets.token_urlsafe(32)
    return {
        "redirect_uri": hosted.server.public + CALLBACK,
        "cookie_secret": cookie,
        "client_id": held.client,
        "client_secret": _secret(held.client_secret_file),
        "server_metadata_url": held.metadata,
    }


def _secret(path: str) -> str:
    return Path(path).read_text(encoding="utf-8").strip()
