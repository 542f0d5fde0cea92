"""Behind a proxy: only proxies in the settings may name the client's address, to which the rate limit applies."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from streamlit.web.server.starlette.starlette_server import _get_uvicorn_config_kwargs

from hosting.meter import Meter
from hosting.middleware import HostedMiddleware
from hosting.serve import prepared
from hosting.settings import VARIABLE, read

PROXY, OTHER = "127.0.0.1", "10.0.0.9"
MOST = 10  # requests a minute, the least that the settings allow


def served(folder: Path, monkeypatch: pytest.MonkeyPatch, proxies: str) -> Any:
    """What uvicorn asks for each request of a server with these settings, as Streamlit (1.67) starts it."""
    for name in (VARIABLE, "FORWARDED_ALLOW_IPS", "WEBSOCKETS_MAX_LINE_LENGTH"):
        monkeypatch.setenv(name, "")  # set again by what is tested, and as before afterwards
    file = folder / "hosting.toml"
    file.write_text(f'[server]\nurl = "https://a.org"\nproxies = {proxies}\n[limits]\nrequests = {MOST}\n')
    prepared([str(file)])
    settings = read(file)
    assert os.environ["FORWARDED_ALLOW_IPS"] == ",".join(settings.server.proxies)

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    config = uvicorn.Config(HostedMiddleware(app, settings, Meter(), ""), **_get_uvicorn_config_kwargs())
    config.load()
    return config.loaded_app


def asked(app: Any, client: str, forwarded: str) -> int:
    """The status of a request that comes from this address, with what it says of whom it is for."""
    headers = [(b"host", b"a.org"), (b"x-forwarded-for", forwarded.encode())]
    scope = {"type": "http", "path": "/", "method": "GET", "scheme": "http", "headers": headers, "client": (client, 5)}
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"]


def test_of_a_listed_proxy_every_forwarded_address_has_a_rate_of_its_own(tmp_path, monkeypatch):
    app = served(tmp_path, monkeypatch, f'["{PROXY}"]')
    assert [asked(app, PROXY, "5.5.5.5") for _ in range(MOST + 1)] == [200] * MOST + [429]
    assert asked(app, PROXY, "6.6.6.6") == 200
    # What a visitor writes before the address that the proxy saw is not believed.
    assert [asked(app, PROXY, f"7.7.7.{number}, 5.5.5.5") for number in range(2)] == [429, 429]


@pytest.mark.parametrize("proxies", ["[]", f'["{PROXY}"]'])
def test_who_is_not_listed_is_asked_by_its_own_address_whatever_it_says(tmp_path, monkeypatch, proxies):
    app = served(tmp_path, monkeypatch, proxies)
    found = [asked(app, OTHER, f"5.5.5.{number}") for number in range(MOST + 1)]
    assert found == [200] * MOST + [429]


def test_without_a_list_not_even_this_machine_is_believed(tmp_path, monkeypatch):
    """Uvicorn's own default would believe it."""
    app = served(tmp_path, monkeypatch, "[]")
    found = [asked(app, PROXY, f"5.5.5.{number}") for number in range(MOST + 1)]
    assert found == [200] * MOST + [429]
