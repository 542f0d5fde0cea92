"""Everything that the pages on hosting services name exists, and their settings start a server with a session."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from streamlit.web.server.app_discovery import discover_asgi_app

from benchmarks import _wanderers
from hosting.settings import VARIABLE, in_bytes, read
from tests.browser import ROOT, free_port

DEPLOY = ROOT / "deploy"
CLOUD, SPACE = DEPLOY / "streamlit-cloud", DEPLOY / "hugging-face"
LINK = re.compile(r"\]\((\.\./[^)#]+)\)")


@pytest.mark.parametrize("page, folder", [("deploy-streamlit-cloud", CLOUD), ("deploy-hugging-face", SPACE)])
def test_a_page_names_every_file_of_its_folder_and_they_exist(page: str, folder: Path):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    named = {(ROOT / "docs" / one).resolve() for one in LINK.findall(text)}
    there = {one for one in folder.rglob("*") if one.is_file() and "__pycache__" not in one.parts}
    assert {one for one in named if folder in one.parents} == there


def test_torch_is_the_one_that_is_pinned_without_a_gpu():
    wanted = re.search(r"^torch==([\d.]+)$", (ROOT / "requirements-package.txt").read_text(), re.MULTILINE)[1]
    lines = (CLOUD / "requirements.txt").read_text().splitlines()
    assert f"torch=={wanted}+cpu" in lines
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in lines
    (other,) = [line.removeprefix("-r ") for line in lines if line.startswith("-r ")]
    assert (CLOUD / other).resolve() == ROOT / "requirements.txt"
    assert "--index-url https://download.pytorch.org/whl/cpu" in (SPACE / "Dockerfile").read_text()


def test_the_space_is_one_of_docker_at_the_port_of_its_settings():
    header = yaml.safe_load((SPACE / "README.md").read_text(encoding="utf-8").split("---")[1])
    settings, dockerfile = read(SPACE / "atlas.toml"), (SPACE / "Dockerfile").read_text()
    assert (header["sdk"], header["app_port"]) == ("docker", settings.server.port)
    assert f"EXPOSE {settings.server.port}" in dockerfile
    assert "USER 1000" in dockerfile
    command = re.search(r"^CMD (\[.*\])$", dockerfile, re.MULTILINE)[1]
    assert (ROOT / yaml.safe_load(command)[-1]).resolve() == SPACE / "atlas.toml"
    assert settings.server.framed_by == ("https://huggingface.co",)
    assert in_bytes(settings.limits.process_memory) < 16 * 2**30


def test_streamlit_finds_the_app_in_the_file_that_it_is_given():
    assert discover_asgi_app(CLOUD / "streamlit_app.py").is_asgi_app
    assert in_bytes(read(CLOUD / "atlas.toml").limits.process_memory) < 2.7 * 10**9
    assert "NAME.streamlit.app" in (CLOUD / ".streamlit" / "config.toml").read_text()


@contextmanager
def started(tmp_path: Path, port: int, command: list[str], **more: str) -> Generator[None]:
    """It answers, as a user without a home."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HOME": "/nowhere", "TMPDIR": str(tmp_path), **more}
    log = tmp_path / "log.txt"
    with log.open("wb") as output:
        given: Any = {"cwd": ROOT, "env": environment, "stdout": output, "stderr": subprocess.STDOUT}
        process = subprocess.Popen(command, **given)
    try:
        until = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).close()
                break
            except urllib.error.HTTPError:  # of another host: it answers
                break
            except OSError:
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < until
                time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(40)


def here(settings: Path, tmp_path: Path, port: int) -> Path:
    """These settings, of a server at this port of this machine."""
    text = settings.read_text(encoding="utf-8")
    text = re.sub(r'^url = ".*"', f'url = "http://127.0.0.1:{port}"', text, flags=re.MULTILINE)
    text = re.sub(r"^port = .*\n", "", text, flags=re.MULTILINE)
    text = text.replace("[server]\n", f"[server]\nport = {port}\n")
    if "local_port" not in text:
        text = text.replace("[server]\n", f"[server]\nlocal_port = {free_port()}\n")
    made = tmp_path / "atlas.toml"
    made.write_text(text)
    return made


def answer(port: int, host: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"host": host})
    try:
        with urllib.request.urlopen(request) as given:
            assert "default-src 'none'" in given.headers["content-security-policy"]
            return given.status
    except urllib.error.HTTPError as refused:
        return refused.code


def on_cloud(port: int) -> list[str]:
    """As the service runs an app, by all that is known of it."""
    options = [f"--server.port={port}", "--server.headless=true", "--server.address=127.0.0.1"]
    return [sys.executable, "-m", "streamlit", "run", str(CLOUD / "streamlit_app.py"), *options]


def test_on_streamlits_cloud_the_closed_app_answers_under_its_name_alone(tmp_path: Path):
    port = free_port()
    with started(tmp_path, port, on_cloud(port)):
        assert answer(port, "NAME.streamlit.app") == 200
        assert answer(port, f"127.0.0.1:{port}") == 421


@pytest.mark.long
def test_on_streamlits_cloud_a_session_opens_a_model(tmp_path: Path):
    port = free_port()
    settings = here(CLOUD / "atlas.toml", tmp_path, port)
    with started(
        tmp_path, port, on_cloud(port), **{VARIABLE: str(settings), "STREAMLIT_SERVER_ALLOWED_HOSTS": "127.0.0.1"}
    ):
        assert _wanderers.took(_wanderers.started(port, 1, 12))


@pytest.mark.long
def test_in_a_space_a_session_opens_a_model_and_its_page_may_be_framed(tmp_path: Path):
    port = free_port()
    settings = here(SPACE / "atlas.toml", tmp_path, port)
    with started(tmp_path, port, [sys.executable, "-m", "hosting.serve", str(settings)]):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as given:
            assert "frame-ancestors https://huggingface.co" in given.headers["content-security-policy"]
        assert _wanderers.took(_wanderers.started(port, 1, 12))
