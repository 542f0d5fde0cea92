"""The model server that the app uses instead of loading models itself, from environment variables.

Does not import torch, because the sidebar lists the server's models before the engine is imported.
"""

from __future__ import annotations

import json
import os
import threading
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

SERVER, KEY, KEY_FILE = "ATLAS_RUNNER", "ATLAS_RUNNER_KEY", "ATLAS_RUNNER_KEY_FILE"
FRESH, SOON = 60.0, 5.0  # seconds until the names are requested again, and after a failed request
PATIENCE = 3.0  # seconds for an answer
MOST = 1 << 20  # largest answer in bytes


@dataclass(frozen=True)
class RunnerServer:
    """Its URL and the app's key for it."""

    url: str
    key: str


def runner_server() -> RunnerServer | None:
    """The server in ATLAS_RUNNER, with the key in ATLAS_RUNNER_KEY or in the file ATLAS_RUNNER_KEY_FILE; or None."""
    url = os.environ.get(SERVER, "").strip()
    if not url:
        return None
    file = os.environ.get(KEY_FILE, "").strip()
    key = Path(file).expanduser().read_text(encoding="utf-8").strip() if file else os.environ.get(KEY, "").strip()
    return RunnerServer(url.rstrip("/"), key)


class _Names:
    """The server's models as of the last answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[RunnerServer, tuple[tuple[str, ...], float]] = {}

    def of(self, server: RunnerServer) -> tuple[str, ...]:
        with self._lock:
            names, until = self._known.get(server, ((), 0.0))
            if time.monotonic() < until:
                return names
            try:
                names, wait = _asked(server), FRESH
            except (OSError, ValueError):  # the page reports the error when it requests its model
                wait = SOON
            self._known[server] = names, time.monotonic() + wait
            return names


NAMES = _Names()


def served_models(server: RunnerServer) -> tuple[str, ...]:
    """The models that the key may use; empty if the server was never reached."""
    return NAMES.of(server)


def _asked(server: RunnerServer) -> tuple[str, ...]:
    request = urllib.request.Request(f"{server.url}/v1/names", headers={"authorization": f"Bearer {server.key}"})
    if request.type not in ("http", "https"):
        raise ValueError(request.type)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        names = json.loads(answer.read(MOST))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("no names")
    return tuple(names)
