"""The entrance of a hosted app: a session without a slot waits here, and one above its rate pauses."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import psutil
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from hosting import settings
from hosting.admission_queue import AdmissionQueue, Visitor
from hosting.drain import DRAIN
from hosting.meter import METER
from hosting.open_connections import is_among, source
from hosting.rates import Rates
from hosting.settings import Settings, in_bytes
from hosting.visitors.sign_in import may_teach, show_foot
from ui.wording.i18n import _
from viz.markdown import plain

HERE = "127.0.0.1"  # address of a visitor for whom Streamlit reports none
LOOK = 2  # seconds between two polls of the queue


class Entrance(NamedTuple):
    """The admission queue and the rate limits of sessions."""

    queue: AdmissionQueue
    looks: Rates


@functools.cache
def entrance(hosted: Settings) -> Entrance:
    """The server's entrance."""
    process, most = psutil.Process(), in_bytes(hosted.limits.process_memory)
    limits, shared = hosted.limits, hosted.server.shared
    door = AdmissionQueue(
        limits.sessions,
        limits.idle,
        lambda: process.memory_info().rss < most,
        share=limits.address_sessions,
        whole=lambda source: is_among(source, shared),
        keep=limits.keep,
    )
    METER.watch(
        sessions=lambda: door.inside,
        sessions_waiting=lambda: door.waiting,
        draining=lambda: DRAIN.begun,
        memory_bytes=lambda: process.memory_info().rss,
    )
    return Entrance(door, Rates(hosted.limits.looks))


def admitted() -> bool:
    """Return True if this run of the app may continue; otherwise show why, and reload the page when it may."""
    hosted = settings.current()
    if hosted is None:
        return True
    refusal = _refusal(hosted)
    if refusal is None:
        return True
    st.html("<h1 class='atlas-title'>Attention Atlas</h1>")
    show_foot(inside=False)  # a teacher who is not signed in yet can do so here, without waiting
    _wait(hosted, iter([refusal]))
    return False


def _refusal(hosted: Settings) -> str | None:
    context = get_script_run_ctx(suppress_warning=True)
    name = context.session_id if context else ""
    held = entrance(hosted)
    visitor = _visitor()
    if DRAIN.begun and not held.queue.knows(name, visitor):
        METER.count("refused_total", 'by="draining"')
        return _("This server restarts when the lessons that are running have ended. The page then opens by itself.")
    before = held.queue.ask(name, visitor)
    if before is not None:
        METER.count("refused_total", 'by="sessions"')
        full = _("This server is full.")
        mine = _("{count} ahead of you.").format(count=before) if before else _("You are next.")
        return f"{full} {mine} " + _("The page opens by itself.")
    _leave_when_left(name, held.queue)
    wait = held.looks.ask(name)
    if wait:
        METER.count("refused_total", 'by="looks"')
        words = _("More than {count} requests in a minute. Nothing is lost; the page continues by itself soon.")
        return words.format(count=hosted.limits.looks)
    return None


def _visitor() -> Visitor:
    """The visitor, identified by address and by the cookie that Streamlit (1.67) gives every browser."""
    masked = st.context.cookies.get(XSRF_COOKIE_NAME, "")
    token, _ = decode_xsrf_token_string(masked) if masked else (None, None)
    return Visitor(source(st.context.ip_address or HERE), token.hex() if token else "", may_teach())


@st.fragment(run_every=LOOK)
def _wait(hosted: Settings, known: Iterator[str]) -> None:
    """Show why the visitor waits, and poll; ``known`` yields the reason that the run before it found, once."""
    refusal = next(known, None) or _refusal(hosted)
    if refusal is None:
        st.rerun()
    st.info(plain(refusal))


@st.cache_resource(scope="session", on_release=lambda left: left[0].leave(left[1]), show_spinner=False)
def _leave_when_left(name: str, _door: AdmissionQueue) -> tuple[AdmissionQueue, str]:
    """Register the slot as a session resource: Streamlit releases it when the browser leaves, which frees the slot."""
    return _door, name
