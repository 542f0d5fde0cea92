"""The server of models that the app asks in place of loading them itself, from the environment of the app's server.

Knows no torch: the sidebar lists the server's models before the engine is imported.
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
FRESH, SOON = 60.0, 5.0  # seconds after which the names are asked for again, and after a server that did not answer
PATIENCE = 3.0  # seconds for it to answer
MOST = 1 << 20  # bytes of its answer


@dataclass(frozen=True)
class RunnerServer:
    """Its URL, and the key that it is shown."""

    url: str
    key: str


def runner_server() -> RunnerServer | None:
    """The server that ATLAS_RUNNER names, with the key of ATLAS_RUNNER_KEY, or of the file ATLAS_RUNNER_KEY_FILE."""
    url = os.environ.get(SERVER, "").strip()
    if not url:
        return None
    file = os.environ.get(KEY_FILE, "").strip()
    key = Path(file).expanduser().read_text(encoding="utf-8").strip() if file else os.environ.get(KEY, "").strip()
    return RunnerServer(url.rstrip("/"), key)


class _Names:
    """The models of the server, as it told them last."""

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
            except (OSError, ValueError):  # the page says why: it asks for its model
                wait = SOON
            self._known[server] = names, time.monotonic() + wait
            return names


NAMES = _Names()


def served_models(server: RunnerServer) -> tuple[str, ...]:
    """The models that the key may ask; nothing while the server was never reached."""
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
