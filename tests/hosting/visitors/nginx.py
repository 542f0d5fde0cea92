"""The nginx configuration of deploy/ in front of a hosted server, in a separate process and folder."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.browser import ROOT, free_port

DEPLOY = ROOT / "deploy"
SITE = "https://atlas.school.org"  # in deploy/atlas.toml
SYSTEM = "/usr/local/sbin:/usr/sbin"  # where it is, too, and where not everybody looks
# of a folder of the tests; the packages' own folders are not everybody's
TEMPORARY = "".join(f"{kind}_temp_path {{folder}}/{kind};" for kind in ("proxy", "fastcgi", "uwsgi", "scgi"))


def changed(text: str, changes: Mapping[str, str]) -> str:
    """The file, with each of these, which it has once, as it is here."""
    for written, here in changes.items():
        assert text.count(written) == 1, written
        text = text.replace(written, here)
    return text


def documented_server(port: int) -> Mapping[str, Any]:
    """The part [server] of deploy/atlas.toml, whose proxy is at this port."""
    text = (DEPLOY / "atlas.toml").read_text(encoding="utf-8")
    return tomllib.loads(text.replace(SITE, f"https://127.0.0.1:{port}"))["server"]


def find_nginx() -> str:
    """The path of the machine's nginx. Without one the test is skipped, or with CI=true failed, with the reason."""
    if found := shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:{SYSTEM}"):
        return found
    reason = "no nginx on this machine; on Debian: apt-get install --no-install-recommends nginx-light"
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


class Nginx:
    """Run as deploy/ has it, but for ports, files and the folder of logs; it can be killed and started again."""

    def __init__(self, folder: Path, port: int, app: int, certificate: Path, key: Path) -> None:
        """It listens at ``port`` of 127.0.0.1, without TLS at ``plain``, and the app at ``app``."""
        self._program, self._folder, self._port = find_nginx(), folder, port
        self.plain = free_port()
        site = {
            "listen 80": f"listen 127.0.0.1:{self.plain}",
            "listen 443": f"listen 127.0.0.1:{port}",
            "127.0.0.1:8501": f"127.0.0.1:{app}",
            "/etc/ssl/atlas.pem": str(certificate),
            "/etc/ssl/atlas.key": str(key),
            "/var/log/nginx": str(folder),
            "/var/www/html": str(folder / "www"),
        }
        # without a user its workers are nobody, who may not look into a folder of the tests
        whole = {
            "user www-data;": "daemon off;" + (" user root;" if os.geteuid() == 0 else ""),
            "/run/nginx.pid": f"{folder}/nginx.pid",
            "include /etc/nginx/conf.d/*.conf;": f"client_body_temp_path {folder}/body; "
            + TEMPORARY.format(folder=folder)
            + f"include {folder}/nginx-atlas.conf;",
        }
        for name, changes in {"nginx-atlas.conf": site, "nginx.conf": whole}.items():
            (folder / name).write_text(changed((DEPLOY / name).read_text(encoding="utf-8"), changes))
        self.start()

    def start(self) -> None:
        """Once it is back, nginx listens."""
        command = [self._program, "-p", str(self._folder), "-c", str(self._folder / "nginx.conf")]
        given: Any = {"stderr": subprocess.PIPE, "start_new_session": True}  # by which its worker is ended with it
        self._process = subprocess.Popen(command, **given)
        until = time.monotonic() + 30
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        self.kill()
        pytest.fail(self._process.stderr.read().decode(errors="replace"), pytrace=False)

    def kill(self) -> None:
        """All of it at once."""
        with suppress(ProcessLookupError):  # killed already
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with suppress(OSError):  # its workers hold the port for a moment longer
            while True:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                time.sleep(0.01)

    def logged(self) -> list[str]:
        """The lines of the access log of deploy/nginx-atlas.conf."""
        return (self._folder / "atlas.log").read_text().splitlines()
