"""A server of models as a host starts it: `attention-atlas runner` in a process of its own, with the embedded model."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from served import serve
from tests.served.server import free_port

SETTINGS = '[server]\nport = {port}\n[limits]\nmemory = "{memory}"\n'


@dataclass(frozen=True)
class ModelServer:
    """A server's address, its key, and its process."""

    url: str
    key: str
    pid: int


def answers(url: str) -> bool:
    """Whether a server responds."""
    try:
        return httpx2.get(f"{url}/health").is_success
    except httpx2.TransportError:
        return False


@contextmanager
def model_server(memory: str) -> Generator[ModelServer]:
    """A server that caches ``memory`` of captures and has loaded no model yet; it ends with the block."""
    port = free_port()
    key, _, lines = serve.new_key("benchmark").partition("\n")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "served.toml"
        file.write_text(SETTINGS.format(port=port, memory=memory) + lines)
        process = subprocess.Popen([sys.executable, "-m", "served", str(file)], stderr=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            while not answers(url):
                if process.poll() is not None:
                    sys.exit("The server did not start; `attention-atlas runner` says why.")
                time.sleep(0.1)
            yield ModelServer(url, key, process.pid)
        finally:
            process.terminate()
            process.wait(20)
