"""The nginx of docs/hosting.md before a hosted server, in a process and a folder of its own."""

from __future__ import annotations

import os
import re
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

from tests.browser import ROOT

DOCS = ROOT / "docs" / "hosting.md"
SITE = "https://atlas.school.org"  # in docs/hosting.md
SYSTEM = "/usr/local/sbin:/usr/sbin"  # where it is, too, and where not everybody looks
# what Debian's nginx.conf says around a file of conf.d, its logs as they are without a word, in one folder
AROUND = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log {folder}/access.log;
    gzip on;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {block}
}}
"""


def documented(language: str) -> str:
    """The only block of docs/hosting.md in this language that is about a proxy."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", DOCS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (found,) = (block for block in blocks if "prox" in block)
    return found


def documented_server(port: int) -> Mapping[str, Any]:
    """The part [server] of the settings that docs/hosting.md has for a proxy, which is at this port."""
    return tomllib.loads(documented("toml").replace(SITE, f"https://127.0.0.1:{port}"))["server"]


def find_nginx() -> str:
    """The path of the machine's nginx. Without one the test is skipped, or with CI=true failed, with the reason."""
    if found := shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:{SYSTEM}"):
        return found
    reason = "no nginx on this machine; on Debian: apt-get install --no-install-recommends nginx-light"
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


class Nginx:
    """Run as docs/hosting.md says, but for ports, files and the folder of logs; it can be killed and started again."""

    def __init__(self, folder: Path, port: int, app: int, certificate: Path, key: Path) -> None:
        """It listens at ``port`` of 127.0.0.1, and the app at ``app``."""
        self._program, self._folder, self._port = find_nginx(), folder, port
        block, changes = (
            documented("nginx"),
            {
                "listen 443": f"listen 127.0.0.1:{port}",
                "127.0.0.1:8501": f"127.0.0.1:{app}",
                "/etc/ssl/atlas.pem": str(certificate),
                "/etc/ssl/atlas.key": str(key),
                "/var/log/nginx": str(folder),
            },
        )
        for written, here in changes.items():
            assert block.count(written) == 1, written
            block = block.replace(written, here)
        user = "user root;" if os.geteuid() == 0 else ""  # else nobody, who may not look into a folder of the tests
        (folder / "nginx.conf").write_text(AROUND.format(user=user, folder=folder, block=block))
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

    def logged(self) -> list[str]:
        """The lines of the access log of docs/hosting.md."""
        return (self._folder / "atlas.log").read_text().splitlines()
