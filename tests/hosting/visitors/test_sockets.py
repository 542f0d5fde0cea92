"""Clients that flood a server with bytes, fragments, silence or sockets are disconnected; others are served."""

from __future__ import annotations

import base64
import errno
import gc
import json
import os
import resource
import socket
import ssl
import struct
import threading
import time
from asyncio import sslproto
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from streamlit.web.server.starlette.starlette_server import _get_uvicorn_config_kwargs

from hosting.meter import METER, Meter
from hosting.middleware import HostedMiddleware
from hosting.open_connections import RESERVE, CountingListener, OpenConnections, allow_files, is_among, source
from hosting.settings import VARIABLE, Limits, Server, Settings, WrongSetting, read
from hosting.visitors import protocols
from tests.browser import free_port
from tests.hosting.visitors.own_certificate import own_certificate, trusting

PATIENCE = 5.0  # seconds
SHORT = 1  # seconds to say what one wants
TALK, STREAM = "/classroom/talk", "/_stcore/stream"
MB = 2**20
CLOSED = (b"", b"reset")


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers every request; of a WebSocket's messages it tells the length."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": str(len(message.get("bytes") or message.get("text") or ""))})
    elif scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


class Target:
    """A server that is attacked, on this machine."""

    def __init__(self, port: int, secure: ssl.SSLContext | None) -> None:
        self.port, self.secure = port, secure

    def dial(self, *, tls: bool = True) -> socket.socket:
        dialled = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        return self.secure.wrap_socket(dialled, server_hostname="127.0.0.1") if self.secure and tls else dialled

    @property
    def answers(self) -> bool:
        """Whether somebody who asks as a browser does is answered."""
        with self.dial() as one:
            one.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            return heard(one).startswith(b"HTTP/1.1 200")

    def socket(self, path: str, forwarded: str = "") -> socket.socket:
        """A WebSocket that is open, or one that was closed instead."""
        one = self.dial()
        named = f"X-Forwarded-For: {forwarded}\r\n" if forwarded else ""
        key = base64.b64encode(os.urandom(16)).decode()
        one.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: http://127.0.0.1:{self.port}\r\n{named}"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        said = heard(one)
        assert said in CLOSED or said.startswith(b"HTTP/1.1 101"), said
        return one


def heard(one: socket.socket) -> bytes:
    """What comes next; nothing once it is closed."""
    try:
        return one.recv(65536)
    except ConnectionError:
        return b"reset"


def head(length: int, opcode: int = 2, *, last: bool = True) -> bytes:
    """Of a frame that a client sends, masked with zeros."""
    size = bytes([length | 128]) if length < 126 else b"\xff" + struct.pack("!Q", length)
    return bytes([opcode | (128 if last else 0)]) + size + bytes(4)


def closed_with(one: socket.socket, code: int) -> bool:
    """Whether the server ends it with this code."""
    said = heard(one)
    return said[:1] == b"\x88" and struct.unpack("!H", said[2:4]) == (code,)


def refused(by: str) -> int:
    lines = [line for line in METER.text().splitlines() if line.startswith(f'atlas_refused_total{{by="{by}"}}')]
    return int(lines[0].rsplit(" ", 1)[1]) if lines else 0


def until(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return False


Serve = Callable[..., Target]


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Serve]:
    """Starts a server with these limits, as Streamlit (1.67) starts uvicorn; it ends after the test."""
    with ExitStack() as ends:

        @contextmanager
        def serving(*, tls: bool = False, proxies: str = "[]", **limits: Any) -> Generator[Target]:
            port = free_port()
            lines = [f"{name} = {json.dumps(one)}" for name, one in {"handshake": SHORT, **limits}.items()]
            given = [f"[server]\nport = {port}\nproxies = {proxies}", "[limits]", *lines]
            file = tmp_path / "hosting.toml"
            file.write_text("\n".join(given))
            monkeypatch.setenv(VARIABLE, str(file))
            monkeypatch.setenv("FORWARDED_ALLOW_IPS", ",".join(read(file).server.proxies))
            for table in (protocols.HTTP_PROTOCOLS, protocols.WS_PROTOCOLS, protocols.LOOP_FACTORIES):
                for name, one in table.items():
                    monkeypatch.setitem(table, name, one)  # and as before afterwards
            monkeypatch.setattr(sslproto.SSLProtocol, "max_size", sslproto.SSLProtocol.max_size)
            protocols.connections.cache_clear()
            protocols.use_bounds()
            settings = read(file)
            monkeypatch.setattr("streamlit.runtime.runtime_util._max_message_size_bytes", 200_000_000)
            more = _get_uvicorn_config_kwargs()
            certificate = own_certificate(tmp_path) if tls else None
            if certificate:
                more |= dict(zip(("ssl_certfile", "ssl_keyfile"), map(str, certificate), strict=True))
            server = uvicorn.Server(
                uvicorn.Config(HostedMiddleware(app, settings, Meter(), ""), lifespan="off", **more)
            )
            with socket.socket() as listening:
                listening.bind(("127.0.0.1", port))
                listening.listen(64)
                thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
                thread.start()
                assert until(lambda: server.started)
                try:
                    yield Target(port, trusting(certificate[0]) if certificate else None)
                finally:
                    server.should_exit = server.force_exit = True
                    thread.join(PATIENCE)

        yield lambda **limits: ends.enter_context(serving(**limits))


@pytest.mark.parametrize(
    "path, length", [(TALK, 4097), (f"/atlas{TALK}?lang=en", 40 * MB), (STREAM, 2 * MB + 1), (STREAM, 190 * MB)]
)
def test_a_message_too_long_is_refused_by_its_head_alone(serve, path, length):
    with serve().socket(path) as one:
        one.sendall(head(length))
        assert closed_with(one, 1009)


@pytest.mark.parametrize("path, length", [(TALK, 4096), (STREAM, 2 * MB)])
def test_a_message_as_long_as_may_be_is_read(serve, path, length):
    with serve().socket(path) as one:
        one.sendall(head(length) + bytes(length))
        assert heard(one)[2:] == str(length).encode()


def test_what_an_address_has_begun_and_not_finished_is_counted(serve):
    target, before = serve(unfinished="3 MB"), refused("unfinished")
    with ExitStack() as held:
        lines = [held.enter_context(target.socket(STREAM)) for _ in range(4)]
        for one in lines[:3]:
            one.sendall(head(2 * MB) + bytes(MB - 1000))
        assert until(lambda: sum(protocols.connections()._unfinished.values()) >= 3 * (MB - 1000))
        with suppress(ConnectionError):
            lines[3].sendall(head(2 * MB) + bytes(MB - 1000))
        assert closed_with(lines[3], 1009)
        assert refused("unfinished") > before
        lines[1].close()
        assert until(lambda: sum(protocols.connections()._unfinished.values()) < 2 * MB)
        lines[0].sendall(bytes(MB + 1000))  # who was within it goes on
        assert heard(lines[0])[2:] == str(2 * MB).encode()
    assert until(lambda: not protocols.connections()._unfinished)


def test_pieces_of_nothing_are_no_message(serve):
    with serve().socket(STREAM) as one:
        with suppress(ConnectionError):
            one.sendall(head(0, last=False) + head(0, opcode=0, last=False) * 5000)
        assert closed_with(one, 1009)


@pytest.mark.parametrize("tls", [False, True])
def test_who_says_nothing_or_half_a_head_is_cut_off(serve, tls):
    target = serve(tls=tls)
    with ExitStack() as held:
        silent, half, drip = (held.enter_context(target.dial()) for _ in range(3))
        never = held.enter_context(target.dial(tls=False))  # with TLS: not even that begins
        half.sendall(b"GET / HTTP/1.1\r\nHost: ")
        drip.sendall(f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\nContent-Length: 999\r\n\r\n".encode())
        assert heard(drip).startswith(b"HTTP/1.1 4")
        assert target.answers or tls
        start = time.monotonic()
        while time.monotonic() - start < 1.5 * SHORT:
            for one in (half, drip):  # a little now and then is no answer
                with suppress(OSError):
                    one.sendall(b"a")
            time.sleep(0.1)
        for one in (silent, half, drip, never):
            one.settimeout(SHORT)
            while said := heard(one):
                if said == b"reset":
                    break
        assert until(lambda: not protocols.connections().count)


def test_an_empty_message_is_one(serve):
    target = serve(handshake=60)
    with target.socket(STREAM) as line:
        line.sendall(head(0) + head(3) + b"abc")
        said = heard(line)
        if len(said) < 6:
            said += heard(line)
        assert (said[2:3], said[5:6]) == (b"0", b"3")


def test_one_address_has_its_share_of_connections_and_others_theirs(serve):
    target, before = serve(address_connections=10, handshake=60), refused("address_connections")
    lines = [target.dial() for _ in range(10)]
    assert until(lambda: protocols.connections().count == 10)
    with target.dial() as one:
        assert heard(one) in CLOSED
    assert refused("address_connections") == before + 1
    with socket.create_connection(("127.0.0.1", target.port), PATIENCE, ("127.0.0.2", 0)) as other:
        other.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\n\r\n".encode())
        assert heard(other).startswith(b"HTTP/1.1 200")
    lines.pop().close()
    assert until(lambda: target.answers)
    for one in lines:
        one.close()
    assert until(lambda: not protocols.connections().count)


def test_behind_a_proxy_the_share_is_of_whom_it_names(serve):
    target = serve(proxies='["127.0.0.1"]', address_connections=10)
    with ExitStack() as held:
        lines = [held.enter_context(target.socket(TALK, "5.5.5.5")) for _ in range(11)]
        assert heard(lines[10]) in CLOSED
        other = held.enter_context(target.socket(TALK, "6.6.6.6"))
        other.sendall(head(3) + b"abc")
        assert heard(other)[2:] == b"3"


def test_without_a_file_descriptor_connections_are_turned_away_and_nothing_else_fails():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as plain, socket.socket() as client, socket.socket() as later:
        plain.bind(("127.0.0.1", 0))
        plain.listen(8)
        where = plain.getsockname()
        listening = CountingListener(plain, OpenConnections(Settings(), Meter()), meter := Meter())
        taken: list[int] = []
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 8, hard))
            with suppress(OSError):
                while True:
                    taken.append(os.dup(0))
            client.connect(where)
            with pytest.raises(BlockingIOError):
                listening.accept()
            client.settimeout(PATIENCE)
            assert heard(client) in CLOSED
        finally:
            for one in taken:
                os.close(one)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert 'by="files"} 1' in meter.text()
        later.connect(where)
        listening.accept()[0].close()
        listening.close()


def test_more_connections_than_files_is_a_sentence_at_the_start(monkeypatch):
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (256, 1000))
    monkeypatch.setattr(resource, "setrlimit", lambda _kind, limits: given.append(limits))
    allow_files(1000 - RESERVE)
    assert given == [(1000, 1000)]

    def fails(_kind: int, _limits: tuple[int, int]) -> None:
        raise ValueError(errno.EPERM)

    monkeypatch.setattr(resource, "setrlimit", fails)
    with pytest.raises(WrongSetting, match=r"limits\.connections is 3,000, .* lets it open 1,000: lower the setting"):
        allow_files(3000)


def test_an_address_of_ipv6_is_its_household_and_a_school_has_no_share():
    assert source("2001:db8:1:2:3::4") == source("2001:db8:1:2:ffff::") == "2001:db8:1:2::/64"
    assert source("2001:db8:1:3::4") != source("2001:db8:1:2::4")
    assert (source("::ffff:1.2.3.4"), source("1.2.3.4"), source("unix")) == ("1.2.3.4", "1.2.3.4", "unix")
    networks = ("10.0.0.0/8", "2001:db8::/32")
    found = {one: is_among(one, networks) for one in ("10.1.2.3", "2001:db8:1:2:3::4", "11.1.2.3", "::1", "unix")}
    assert [one for one, within in found.items() if within] == ["10.1.2.3", "2001:db8:1:2:3::4"]
    few = Limits(connections=30, address_connections=10)
    school = OpenConnections(Settings(server=Server(shared=("203.0.113.7",)), limits=few), Meter())
    assert [school.enter("203.0.113.7") for _ in range(31)] == [True] * 30 + [False]


def test_a_connection_with_tls_takes_no_quarter_of_a_megabyte(serve):
    with serve(tls=True).dial():
        held = [one for one in gc.get_objects() if type(one) is sslproto.SSLProtocol and one._transport]
        assert {len(one._ssl_buffer) for one in held} == {protocols.TLS_BUFFER}  # pyright: ignore[reportAttributeAccessIssue]  # CPython’s own
