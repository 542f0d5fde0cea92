"""The steps of docs/hosting.md from nothing to a class: the files in its commands exist, and the results are right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hosting.checks.certificate import certificate
from hosting.settings import Server, read
from tests.browser import ROOT

TEXT = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
WAY = TEXT[TEXT.index("## From nothing to a class") : TEXT.index("## Settings")]
BLOCKS = re.findall(r"^```sh\n(.*?)^```", WAY, re.MULTILINE | re.DOTALL)
UPGRADE = TEXT[TEXT.index("## Upgrade") : TEXT.index("## How it works")]
LATER = re.findall(r"^```sh\n(.*?)^```", UPGRADE, re.MULTILINE | re.DOTALL)
HOST = "atlas.example.org"
TOOL = """#!/bin/sh
name=$(basename "$0")
[ "$name" = runuser ] && shift 3 && exec "$@"
echo "$name $*" >> "$TOLD"
[ "$name $2" = "$FAILS" ] && exit 1 || exit 0
"""


def block(words: str) -> str:
    """The commands that have these words, alone."""
    (found,) = [one for one in BLOCKS if words in one]
    return found


def later(*words: str) -> str:
    """The same of an upgrade's."""
    (found,) = [one for one in LATER if all(word in one for word in words)]
    return found


def run(commands: str, folder: Path, typed: str = "", **environment: str) -> None:
    """Raises CalledProcessError where one of them fails."""
    told: Any = {"cwd": folder, "env": {**os.environ, "HOST": HOST, **environment}, "input": typed}
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
    (webroot,) = re.findall(r"certbot certonly --webroot -w (\S+)", WAY)
    assert f"root {webroot};" in nginx
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


def test_both_versions_are_compiled_without_the_file_that_python_3_11_cannot(tmp_path: Path):
    commands = re.findall(r"^/opt\S+ (-m compileall .*) /opt/attention-atlas/[\d.]+$", TEXT, re.MULTILINE)
    assert len(commands) == 2
    for number, command in enumerate(commands):
        inner = tmp_path / str(number) / ".venv" / "torch"
        inner.mkdir(parents=True)
        (inner / "py312_intrinsics.py").write_text("def (")
        (inner / "good.py").write_text("x = 1")
        run(f"{sys.executable} {command} {tmp_path / str(number)}", tmp_path)
        assert len(list(inner.glob("__pycache__/good.*.pyc"))) == 1


@pytest.fixture
def versions(tmp_path: Path) -> Path:
    """/opt/attention-atlas with two versions and no server: every program only notes that it was called."""
    for name in ("1.0/.venv/bin/python", "1.1/.venv/bin/python", "bin/systemctl", "bin/runuser"):
        tool = tmp_path / name
        tool.parent.mkdir(parents=True, exist_ok=True)
        tool.write_text(TOOL)
        tool.chmod(0o755)
    (tmp_path / "current").symlink_to("1.0")
    return tmp_path


def restarted(commands: str, versions: Path, fails: str) -> tuple[list[str], str]:
    """What was called when this program fails, and the version that runs next."""
    (versions / "told").write_text("")
    path = f"{versions / 'bin'}:{os.environ['PATH']}"
    with suppress(subprocess.CalledProcessError):
        here = commands.replace("/opt/attention-atlas", str(versions))
        run(here, versions, PATH=path, TOLD=str(versions / "told"), FAILS=fails)
    called = (versions / "told").read_text().splitlines()
    return [one.replace(" /etc/atlas.toml", "") for one in called], os.readlink(versions / "current")


DRAINED, CHECKED, RESTARTED = "python -m hosting.drain_client", "python -m hosting.check", "systemctl restart atlas"


@pytest.mark.parametrize(
    "fails, called, version",
    [
        ("", [DRAINED, CHECKED, RESTARTED], "1.1"),
        ("python hosting.drain_client", [DRAINED], "1.0"),
        ("python hosting.check", [DRAINED, CHECKED], "1.0"),
    ],
)
def test_an_upgrade_restarts_only_what_has_ended_and_was_checked(versions: Path, fails: str, called, version: str):
    assert restarted(later("hosting.drain_client", "ln -sfn 1.1"), versions, fails) == (called, version)


def test_rolling_back_waits_for_the_end_of_the_lesson_too(versions: Path):
    (versions / "current").unlink()
    (versions / "current").symlink_to("1.1")
    back = later("hosting.drain_client", "ln -sfn 1.0")
    assert restarted(back, versions, "python hosting.drain_client") == ([DRAINED], "1.1")
    assert restarted(back, versions, "") == ([DRAINED, RESTARTED], "1.0")


def test_a_backup_has_every_file_that_the_steps_make_and_comes_back(tmp_path: Path):
    made = set(re.findall(r"\binstall -[dm] .* (/etc/\S+)$", "".join(BLOCKS), re.MULTILINE))
    made |= {"/etc/ssl/atlas.pem", "/etc/ssl/atlas.key"}
    assert len(made) == 9  # with the folder of the secrets
    old, new = tmp_path / "old", tmp_path / "new"
    for name in sorted(made - {"/etc/atlas"}):
        file = old / name[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    new.mkdir()
    kept = later("tar -czf").replace("cd /", f"cd {old}").replace("/root", str(tmp_path))
    run(kept, tmp_path)
    assert (tmp_path / "atlas-backup.tar.gz").stat().st_mode & 0o077 == 0
    back = later("tar -xzpf").replace("/root", str(tmp_path)).replace("-C /", f"-C {new}")
    run(back.replace("systemctl", "true"), tmp_path)
    assert all((new / name[1:]).exists() for name in made)
