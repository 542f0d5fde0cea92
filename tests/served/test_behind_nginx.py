"""The nginx lines of docs/scale.md: TLS, routing a text to its server, and failover to another one."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from model_runner.questions import NextToken
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.transforms import Sampling
from tests.hosting.visitors.own_certificate import own_certificate
from tests.model_runner.cases import FAMILY, runner_of
from tests.served.server import free_port, remote, serving, settings
from tests.test_repository import ROOT

pytestmark = pytest.mark.skipif(shutil.which("nginx") is None, reason="no nginx on this machine")
TEXT = "The dog"


class Reading:
    """A model, and which texts it read or began to write."""

    def __init__(self) -> None:
        self.runner, self.texts = runner_of(FAMILY["llama"]), list[str]()
        write, submit = self.runner.engine.write, self.runner.submit  # pyright: ignore[reportAttributeAccessIssue]

        def read(request: Any) -> Any:
            self.texts.append(request.text)
            return write(request)

        def asked(question: Any, **other: Any) -> Any:
            self.texts += ["a token"] if isinstance(question, NextToken) else []
            return submit(question, **other)

        self.runner.engine.write, self.runner.submit = read, asked  # pyright: ignore[reportAttributeAccessIssue]


@pytest.fixture
def entrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[Reading], list[ExitStack]]]:
    """The URL of nginx, as the document has it, before two servers; what ends each."""
    (lines,) = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs" / "scale.md").read_text(encoding="utf-8"), re.DOTALL)
    certificate, key = own_certificate(tmp_path)
    with ExitStack() as stack:
        models = [Reading() for _ in range(2)]
        ends = [stack.enter_context(ExitStack()) for _ in models]
        told = [settings() for _ in models]
        for end, own, one in zip(ends, models, told):
            end.enter_context(serving({"llama": own.runner}, one))
        for number, one in enumerate(told):
            lines = lines.replace(f"10.0.0.{11 + number}:8600", f"127.0.0.1:{one.server.port}")
        port = free_port()
        lines = lines.replace("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")
        lines = lines.replace("# ssl_certificate …", f"ssl_certificate {certificate}; ssl_certificate_key {key};")
        assert "10.0.0" not in lines
        assert str(port) in lines
        assert str(key) in lines
        folders = "\n".join(
            f"{name}_temp_path {tmp_path};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (tmp_path / "nginx.conf").write_text(
            f"pid {tmp_path}/nginx.pid; error_log stderr warn; daemon off; events {{}}\n"
            f"http {{ access_log off; {folders}\n{lines} }}"
        )
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(["nginx", "-c", f"{tmp_path}/nginx.conf", "-p", str(tmp_path)], stderr=log)
        stack.callback(process.wait, 20)
        stack.callback(process.terminate)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        url = f"https://127.0.0.1:{port}"
        end = time.monotonic() + 20
        while True:
            try:
                assert httpx2.get(f"{url}/health", verify=ssl.create_default_context(cafile=certificate)).text == "ok"
                break
            except httpx2.TransportError:
                assert time.monotonic() < end, (tmp_path / "log").read_text()
                time.sleep(0.1)
        yield url, models, ends


def test_a_text_stays_at_one_server_and_texts_are_shared_out(entrance):
    url, models, _ = entrance
    for _ in range(6):
        remote(url).capture(CaptureRequest(TEXT)).weights(0, 0)
    assert [one.texts for one in models if one.texts] == [[TEXT]]  # and it was read once
    for number in range(20):
        remote(url).capture(CaptureRequest(f"{TEXT} {number}"))
    assert min(len(one.texts) for one in models) >= 2


def test_a_text_that_grows_is_taken_up_at_the_other_server(entrance):
    url, models, ends = entrance
    asked = GenerateRequest(TEXT, 8, sampling=Sampling(temperature=0.9, seed=3))
    expected = [step.token.id for step in remote(url).generate(asked)]
    for one in models:
        one.texts.clear()
    steps = remote(url).generate(asked)
    found = [next(steps).token.id for _ in range(3)]
    assert sorted(one.texts.count("a token") for one in models) == [0, 3]
    ends[models[0].texts.count("a token") == 0].close()
    found += [step.token.id for step in steps]
    assert found == expected
    assert min(one.texts.count("a token") for one in models) >= 3
