"""What ``st.App`` is given where the app is hosted; nothing where it is its user's own."""

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

BEAT, STUCK = 1.0, 10.0  # seconds between two beats of the server's loop, and without one
MOST_PHONES = 500  # of a room, as classroom/room.py has it
CALLBACK = "/oauth2callback"  # Streamlit's own (1.67)


class Rooms(Protocol):
    """The rooms of this server: how many are open, and whether another one may be opened."""

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
    """For whom a phone at this address is counted, and how many of them may be in a room."""
    hosted = settings.current()
    if hosted is None or is_among(address, hosted.server.shared):
        return address, MOST_PHONES
    return source(address), hosted.limits.address_phones


def failed(_error: Exception) -> bool:
    """Instead of an error of the app itself, one sentence; the log has its place."""
    METER.count("failures_total")
    st.error(_("Something went wrong in the app itself. Your text is not lost: continue, or reload the page."))
    return True


@asynccontextmanager
async def _alive(hosted: Settings, rooms: Rooms) -> AsyncGenerator[None]:
    """Health, metrics and the order to drain for as long as the server runs."""
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
    """Every second: the loop runs; and a server that drains ends when nobody does anything in it any more."""
    queue, ending = entrance(hosted).queue, False
    while True:
        last[0] = time.monotonic()
        rooms.opens = not DRAIN.begun
        if not ending and DRAIN.is_over(bool(queue.active or rooms.count)):
            ending = True
            OURS.info("Draining is over.")
            os.kill(os.getpid(), signal.SIGTERM)  # uvicorn ends as it does for the system
        await asyncio.sleep(BEAT)


def _auth(hosted: Settings) -> dict[str, str]:
    """As Streamlit's secrets have it."""
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
