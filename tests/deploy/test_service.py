"""The systemd unit: its names, limits and restrictions; and the server needs to write nothing."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from benchmarks import _wanderers
from hosting.open_connections import RESERVE
from hosting.settings import Settings, in_bytes, read
from tests.browser import ROOT, free_port

UNIT = ROOT / "deploy" / "atlas.service"
EXPOSED = 2.0  # of systemd-analyze security, of 10; 1.4 was measured


def keys() -> dict[str, list[str]]:
    """Of [Service]; a key may stand there several times."""
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text(encoding="utf-8").split("[Service]")[1].split("[Install]")[0].splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


def test_what_it_may_use_is_what_the_settings_promise():
    found, settings = keys(), read(ROOT / "deploy" / "atlas.toml")
    assert int(found["LimitNOFILE"][0]) >= Settings().limits.connections + RESERVE
    memory = int(found["MemoryMax"][0].removesuffix("M")) * 2**20
    assert in_bytes(settings.limits.process_memory) + 2**28 <= memory
    assert int(found["TasksMax"][0]) >= 200
    assert int(found["TimeoutStopSec"][0]) > 30  # of TLS connections that browsers keep
    assert found["Restart"] == ["on-failure"]  # a server that was drained waits for its successor


def test_it_is_closed():
    found = keys()
    for name, value in {
        "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes",
        "CapabilityBoundingSet": "", "StateDirectory": "atlas", "LockPersonality": "yes", "RestrictNamespaces": "yes",
        "ProtectKernelTunables": "yes", "ProtectControlGroups": "yes", "RestrictSUIDSGID": "yes",
    }.items():  # fmt: skip
        assert found[name] == [value], name
    assert "@system-service" in found["SystemCallFilter"][0]
    assert all(one.startswith(("@", "~@")) for one in found["SystemCallFilter"])
    assert found["User"] != ["root"]


def test_it_starts_what_the_command_starts():
    (start,) = keys()["ExecStart"]
    python, *arguments = start.split()
    assert python.startswith(keys()["WorkingDirectory"][0])
    assert arguments[:2] == ["-m", "hosting.serve"]
    configparser.ConfigParser(strict=False, interpolation=None).read_string(UNIT.read_text(encoding="utf-8"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze on this machine")
def test_systemd_understands_every_line_and_finds_little_exposed(tmp_path: Path):
    here = tmp_path / "atlas.service"
    text = UNIT.read_text(encoding="utf-8").replace("/opt/attention-atlas/current/.venv/bin/python", sys.executable)
    here.write_text(text.replace("/opt/attention-atlas/current", str(ROOT)))
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", str(here)], capture_output=True, text=True)
    mine = [line for line in verified.stderr.splitlines() if "atlas.service" in line]
    assert mine == []
    scored = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", str(here)], capture_output=True, text=True
    )
    level = re.search(r"exposure level for atlas.service: ([\d.]+)", scored.stdout)
    if level is None:  # an older systemd asks a running one
        pytest.skip(scored.stderr.strip())
    assert float(level[1]) <= EXPOSED


@pytest.mark.long
def test_a_server_that_may_write_nothing_but_its_temporary_folder_serves(tmp_path: Path):
    """As in the service and the container: everything else is read-only, in mounts of the process's own."""
    port, local, temporary = free_port(), free_port(), tmp_path / "tmp"
    settings = tmp_path / "atlas.toml"
    settings.write_text(f"[server]\nport = {port}\nlocal_port = {local}\n[log]\nformat = 'json'")
    temporary.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "TMPDIR": str(temporary), "HF_HUB_OFFLINE": "1",
                   "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    given: Any = {"cwd": ROOT, "env": environment, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(read_only(temporary, sys.executable, "-m", "hosting.serve", str(settings)), **given)
    try:
        until = time.monotonic() + 60
        while not _is_healthy(local):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.2)
        assert b"<main" in urllib.request.urlopen(f"http://127.0.0.1:{port}/privacy").read()
        assert _wanderers.took(_wanderers.started(port, 1, 12))  # a session opens a model and draws its pages
        checked = subprocess.run(read_only(temporary, sys.executable, "-m", "served.model_check", "encoder"), **given)
        assert '"verified": true' in checked.stdout, checked.stderr
    finally:
        process.terminate()
        said = process.communicate(timeout=40)[1]
    assert "error" not in said


def _is_healthy(local: int) -> bool:
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{local}/healthz", timeout=1).read() == b"ok\n"
    except OSError:
        return False


def read_only(temporary: Path, *command: str) -> list[str]:
    """The command where nothing but this folder can be written. Where that needs rights that are not here: skipped."""
    mine = " ".join(
        f"{shlex.quote(str(one))}" for one in dict.fromkeys(("/", ROOT, Path(sys.prefix).resolve(), "/tmp"))
    )
    script = (
        f"for one in {mine}; do mount --bind $one $one && mount -o remount,bind,ro $one || exit 9; done; "
        f"mount -t tmpfs tmpfs {shlex.quote(str(temporary))} || exit 9; cd {shlex.quote(str(ROOT))}; "
        f'touch app.py 2>/dev/null && exit 8; exec "$@"'
    )
    unshared = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*unshared, "true"], capture_output=True).returncode:
        pytest.skip("no mounts of one's own can be made here")
    return [*unshared, *command]
