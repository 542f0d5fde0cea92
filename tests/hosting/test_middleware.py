"""Requests to a hosted server: which are refused, how, and the headers of every response."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hosting.meter import Meter
from hosting.middleware import SENTENCES, HostedMiddleware
from hosting.policy import cookie, headers
from hosting.settings import Limits, Server, Settings

PAGE = "<script>\n  window.a = false\n</script><script type='module' src='x.js'></script>"
SETTINGS = Settings(server=Server(url="https://a.org/atlas"), limits=Limits(requests=10))
COOKIES = [(b"Set-Cookie", b"_streamlit_xsrf=2|a; Path=/; SameSite=Lax"), (b"set-cookie", b"session=x; path=/")]


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers everything; of a WebSocket it tells what came."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "bytes": message["bytes"]})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"a/b"), *COOKIES]})
    await send({"type": "http.response.body", "body": b"the app"})


def asked(edge: HostedMiddleware, path: str = "/atlas/", **more: Any) -> tuple[int, dict[str, str], list[str], str]:
    """Status, headers, cookies and body."""
    host, method = more.get("host", "a.org"), more.get("method", "GET")
    scope = {"type": "http", "path": path, "method": method, "headers": [(b"host", host.encode())],
             "client": (more.get("client", "1.2.3.4"), 5)}  # fmt: skip
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(edge(scope, receive, send))
    found = [(name.decode().lower(), value.decode()) for name, value in sent[0]["headers"]]
    cookies = [value for name, value in found if name == "set-cookie"]
    return sent[0]["status"], dict(found), cookies, sent[1]["body"].decode()


def spoken(edge: HostedMiddleware, origin: str | None, host: str = "a.org", messages: int = 1) -> list[Any]:
    """What a WebSocket is sent."""
    given = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin is not None else [])]
    coming = [{"type": "websocket.connect"}, *({"type": "websocket.receive", "bytes": b"m"} for _ in range(messages))]
    ahead, sent = iter([*coming, {"type": "websocket.disconnect"}]), list[Any]()

    async def receive() -> Any:
        return next(ahead)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(edge({"type": "websocket", "path": "/", "headers": given, "client": ("1.2.3.4", 5)}, receive, send))
    return sent


def made(settings: Settings = SETTINGS) -> HostedMiddleware:
    return HostedMiddleware(app, settings, Meter(), PAGE)


def test_every_answer_has_the_headers():
    edge = made()
    for path in ("/atlas/", "/atlas/_stcore/metrics"):
        _, found, _, _ = asked(edge, path)
        assert found["x-content-type-options"] == "nosniff"
        assert found["referrer-policy"] == "same-origin"
        assert found["strict-transport-security"].startswith("max-age=")
        assert "frame-ancestors 'none'" in found["content-security-policy"]
        assert "connect-src 'self' wss://a.org;" in found["content-security-policy"]


def test_only_the_pages_own_inline_script_runs():
    """The hash is of the script between its tags, as a browser computes it (echo -n … | openssl sha256 -binary)."""
    policy = dict(headers(SETTINGS.server, PAGE))["content-security-policy"]
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "'sha256-Gt6Hq7UCfMp8SUu9ScXDU6O93A9/37w8lA2hn6ZjXIk='" in scripts
    assert "unsafe-inline" not in scripts
    assert "'unsafe-eval'" not in scripts


def test_a_site_that_may_frame_the_app_is_named():
    found = dict(headers(Server(framed_by=("https://moodle.org",)), PAGE))
    assert found["content-security-policy"].endswith("frame-ancestors https://moodle.org")
    assert "x-frame-options" not in found
    assert "strict-transport-security" not in found  # not over TLS


def test_cookies_are_of_this_site_and_for_tls_alone():
    xsrf, session = asked(made())[2]
    assert xsrf == "_streamlit_xsrf=2|a; Path=/; SameSite=Lax; Secure"  # Streamlit's script reads it
    assert session == "session=x; path=/; SameSite=Lax; HttpOnly; Secure"
    assert cookie("a=b; Secure; HttpOnly; SameSite=Strict", secure=True) == "a=b; Secure; HttpOnly; SameSite=Strict"
    assert "Secure" not in cookie("a=b", secure=False)


@pytest.mark.parametrize(
    "why, status, more",
    [
        ("closed", 404, {"path": "/atlas/_stcore/upload_file/a/b"}),
        ("closed", 404, {"path": "/atlas/_stcore/agent/interact"}),
        ("closed", 404, {"path": "/atlas/_stcore/metrics"}),
        ("method", 405, {"method": "PUT"}),
        ("host", 421, {"host": "evil.org"}),
    ],
)
def test_what_is_refused_is_refused_in_a_sentence(why, status, more):
    edge = made()
    found = asked(edge, **more)
    assert (found[0], found[3]) == (status, SENTENCES[why])
    assert f'atlas_refused_total{{by="{why}"}} 1' in edge._meter.text()


def test_too_many_requests_of_an_address_wait_and_files_are_free():
    edge = made()
    assert [asked(edge)[0] for _ in range(11)] == [200] * 10 + [429]
    status, found, _, body = asked(edge)
    assert (status, body) == (429, SENTENCES["requests"])
    assert 1 <= int(found["retry-after"]) <= 7
    assert asked(edge, client="5.6.7.8")[0] == 200
    assert asked(edge, path="/atlas/static/js/a.js")[0] == 200
    household = [asked(edge, client=f"2001:db8::{number}")[0] for number in range(1, 12)]  # one /64 of IPv6
    assert household == [200] * 10 + [429]


@pytest.mark.parametrize("origin", [None, "https://evil.org", "http://a.org", "https://a.org.evil.org", "null", ""])
def test_a_web_socket_of_another_origin_is_refused(origin):
    assert spoken(made(), origin) == [{"type": "websocket.close", "code": 1008}]


def test_a_web_socket_of_this_server_is_let_through_by_its_name_alone():
    assert [one["type"] for one in spoken(made(), "https://a.org")] == ["websocket.accept", "websocket.send"]
    assert spoken(made(), "https://a.org", host="evil.org")[0]["type"] == "websocket.close"


def test_text_on_the_stream_of_bytes_closes_it_and_the_app_hears_of_the_end_alone():
    heard: list[Any] = []

    async def stream(_scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] != "websocket.disconnect":
            heard.append(message)
        await send({"type": "websocket.send", "bytes": b"too late"})

    edge = HostedMiddleware(stream, SETTINGS, Meter(), PAGE)
    given = [(b"host", b"a.org"), (b"origin", b"https://a.org")]
    coming = iter([{"type": "websocket.receive", "bytes": b"m"}, {"type": "websocket.receive", "text": "m"}])
    sent: list[Any] = []

    async def receive() -> Any:
        return next(coming)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/atlas/_stcore/stream", "headers": given, "client": ("1.2.3.4", 5)}
    asyncio.run(edge(scope, receive, send))
    assert [one["bytes"] for one in heard] == [b"m"]
    assert sent == [{"type": "websocket.accept"}, {"type": "websocket.close", "code": 1003}]
    assert 'atlas_refused_total{by="text"} 1' in edge._meter.text()


def test_too_many_messages_come_later_and_none_is_lost(monkeypatch):
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        edge._rates._clock = lambda: sum(slept)

    monkeypatch.setattr("hosting.middleware.asyncio.sleep", sleep)
    edge = made(replace(SETTINGS, limits=Limits(requests=12)))
    edge._rates._clock = lambda: 0.0
    assert len(spoken(edge, "https://a.org", messages=15)) == 16
    assert sum(slept) == pytest.approx(3 * 60 / 12, rel=1e-6)
