"""The way of docs/hosting.md from nothing to a class: what its commands name is there, and what they make is right."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hosting.checks.certificate import certificate
from hosting.settings import Server, read
from tests.browser import ROOT

TEXT = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
WAY = TEXT[TEXT.index("## From nothing to a class") : TEXT.index("## Settings")]
BLOCKS = re.findall(r"^```sh\n(.*?)^```", WAY, re.MULTILINE | re.DOTALL)
HOST = "atlas.example.org"


def block(words: str) -> str:
    """The commands that have these words, alone."""
    (found,) = [one for one in BLOCKS if words in one]
    return found


def run(commands: str, folder: Path, typed: str = "") -> None:
    told: Any = {"cwd": folder, "env": {**os.environ, "HOST": HOST}, "input": typed}
    subprocess.run(["bash", "-euc", commands], check=True, capture_output=True, text=True, **told)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A machine's /etc after the commands that copy the files; users and groups are as they are here."""
    for name in ("nginx/conf.d", "systemd/system"):
        (tmp_path / name).mkdir(parents=True)
    commands = block("install -m 640 -g atlas deploy/atlas.toml").replace(" -g atlas", "")
    run(f"cd {ROOT}\n" + commands.replace("/etc/", f"{tmp_path}/"), tmp_path)
    settings = tmp_path / "atlas.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("/var/lib/atlas", str(tmp_path)), encoding="utf-8")
    return tmp_path


def test_every_file_of_the_repository_that_a_command_names_is_there():
    named = re.findall(r"\bdeploy/[\w.-]+", "".join(BLOCKS))
    assert len(named) == 4
    assert [name for name in named if not (ROOT / name).is_file()] == []
    assert all(re.search(rf"^## {part}$", TEXT, re.MULTILINE) for part in ("Teachers", "Upgrade", "In a container"))


def test_the_copied_files_have_the_schools_name_and_the_same_path(files: Path):
    nginx = (files / "nginx" / "conf.d" / "atlas.conf").read_text(encoding="utf-8")
    assert nginx.count(f"server_name {HOST};") == 2
    settings = read(files / "atlas.toml")
    assert settings.server.url == f"https://{HOST}/attention"
    assert "location /attention/ {" in nginx
    for copied in files.rglob("*"):
        assert copied.is_dir() or "atlas.school.org" not in copied.read_text(encoding="utf-8")


def test_after_the_commands_state_and_sign_in_are_settings(files: Path):
    text = (files / "atlas.toml").read_text(encoding="utf-8")
    (files / "atlas.toml").write_text(text.replace("/etc/atlas", str(files)), encoding="utf-8")
    commands = block("cookie-secret").replace(" -g atlas", "").replace("/etc/atlas", str(files))
    run(commands.replace(f"{files}.toml", str(files / "atlas.toml")), files, "of the provider\n")
    settings = read(files / "atlas.toml")
    assert settings.server.state == str(files)
    assert settings.sign_in.teachers == ("@school.org",)
    for name, size in {"client-secret": 16, "cookie-secret": 65}.items():
        made = (files / name).stat()
        assert (made.st_size, made.st_mode & 0o777) == (size, 0o640)


def test_the_certificate_to_try_with_is_one_that_a_browser_takes_which_trusts_its_issuer(tmp_path: Path):
    run(block("openssl req").replace("cd /etc/ssl", f"cd {tmp_path}"), tmp_path)
    made = Server(url=f"https://{HOST}", certificate=str(tmp_path / "atlas.pem"), key=str(tmp_path / "atlas.key"))
    said = [one.line for one in certificate(made)]
    assert said[0].startswith(f"ok       server.certificate: it and its key match, it names {HOST}, and lasts for")
    assert "does not trust its issuer" in said[1]
    verify = ["openssl", "verify", "-CAfile", "school-ca.pem", "-verify_hostname", HOST, "atlas.pem"]
    subprocess.run(verify, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "atlas.key").stat().st_mode & 0o077 == 0
