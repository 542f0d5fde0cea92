"""The Caddyfile of deploy/ in front of a hosted server, with Caddy's own certificate authority."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.browser import ROOT, free_port
from tests.hosting.visitors.hosted import Hosted, hosted_app

ASKED = "zeppelin"
REQUESTS = 40  # of an address in a minute


@dataclass(frozen=True)
class Caddy:
    """Where it listens, whom its visitors trust, and what it wrote."""

    port: int
    trust: ssl.SSLContext
    log: Path

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        line = http.client.HTTPSConnection("localhost", self.port, context=self.trust, timeout=10)
        line.request("GET", path, headers=headers)
        answer = line.getresponse()
        answer.read()
        return answer


@pytest.fixture(scope="module")
def caddy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Caddy, Hosted]]:
    program = shutil.which("caddy")
    if program is None:
        pytest.skip("no caddy on this machine; on Debian: apt-get install --no-install-recommends caddy")
    folder, port = tmp_path_factory.mktemp("caddy"), free_port()
    server = {"url": f"https://localhost:{port}", "certificate": "", "key": "", "proxies": ["127.0.0.1"]}
    with hosted_app(folder, sessions=3, server=server, limits={"requests": REQUESTS}) as hosted:
        text = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
        more = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n"
        (folder / "Caddyfile").write_text(text.replace("{\n", more, 1))
        environment = {**os.environ, "ATLAS_HOST": f"localhost:{port}", "ATLAS_CERTIFICATE": "internal",
                       "ATLAS_APP": f"127.0.0.1:{hosted.port}", "HOME": str(folder), "XDG_DATA_HOME": str(folder),
                       "XDG_CONFIG_HOME": str(folder)}  # fmt: skip
        log = folder / "caddy.log"
        with log.open("wb") as output:
            command = [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        root = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        try:
            yield _waited(root, port, log, process), hosted
        finally:
            process.terminate()
            process.wait()


def _waited(root: Path, port: int, log: Path, process: subprocess.Popen[bytes]) -> Caddy:
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        try:
            found = Caddy(port, ssl.create_default_context(cafile=str(root)), log)
            assert found.get("/_stcore/health").status == 200
            return found
        except OSError:  # the certificate is issued at the start
            time.sleep(0.1)
    pytest.fail(log.read_text(), pytrace=False)


def test_pages_and_websockets_of_this_site_pass_and_others_do_not(caddy: tuple[Caddy, Hosted]):
    before, _ = caddy
    assert before.get("/").headers["strict-transport-security"]
    assert before.get("/_stcore/metrics").status == 404
    assert before.get("/privacy", Cookie=f"a={'b' * 20_000}").status == 200
    talk, origin = f"wss://localhost:{before.port}/classroom/talk", f"https://localhost:{before.port}"
    given: Any = {"ssl": before.trust, "legacy": True}
    with connect(talk, origin=origin, **given) as line:
        line.send(json.dumps({"kind": "join", "code": "AAAAAA"}))
        assert json.loads(line.recv(10))["words"] == "There is no room with this code."
    with pytest.raises(InvalidStatus, match="403"):
        connect(talk, origin="https://elsewhere.org", **given).close()


def test_a_visitor_cannot_name_another_address(caddy: tuple[Caddy, Hosted]):
    before, _ = caddy
    statuses = [before.get("/_stcore/health", **{"X-Forwarded-For": f"10.0.0.{one}"}).status for one in range(90)]
    assert 429 in statuses


def test_no_text_is_in_what_caddy_writes(caddy: tuple[Caddy, Hosted]):
    before, hosted = caddy
    before.get(f"/?text={ASKED}", Referer=f"https://localhost/{ASKED}")
    hosted.serving.kill()
    assert before.get(f"/join/{ASKED}?text={ASKED}").status == 502
    assert before.log.stat().st_size > 0
    assert ASKED not in before.log.read_text()
