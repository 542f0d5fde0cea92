"""A model server in this process, on a free port of 127.0.0.1."""

from __future__ import annotations

import hashlib
import socket
import threading
import time
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import uvicorn

from model_runner.local.local_models import LocalModels, ModelKey, PendingLoad
from model_runner.local.runner import LocalRunner
from model_runner.remote.models import RemoteModels
from model_runner.remote.runner import RemoteRunner
from served.serve import config
from served.settings import Access, Listening, QuestionLimits, ServedModels, ServedSettings

KEY = "a key of the tests"


def access(name: str = "tests", key: str = KEY, **other: Any) -> Access:
    return Access(name=name, sha256=hashlib.sha256(key.encode()).hexdigest(), **other)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def settings(
    names: tuple[str, ...] = ("llama",), port: int = 0, keys: tuple[Access, ...] = (), **limits: Any
) -> ServedSettings:
    return ServedSettings(
        Listening(port=port or free_port()),
        ServedModels(listed=names, most=100),
        replace(QuestionLimits(), **limits),
        keys or (access(),),
    )


class TheseModels(LocalModels):
    """Models that are there already, by name."""

    def __init__(self, runners: dict[str, LocalRunner]) -> None:
        super().__init__(tuple(runners))
        self.names = tuple(runners)
        for name, runner in runners.items():
            loading = PendingLoad()
            loading.future = Future()
            loading.future.set_result(runner)
            self._held[ModelKey(name)] = loading


@contextmanager
def serving(runners: dict[str, LocalRunner] | TheseModels, told: ServedSettings | None = None) -> Generator[str]:
    """The URL of a server of these models, which ends with the context: connections are cut."""
    models = runners if isinstance(runners, TheseModels) else TheseModels(runners)
    told = told or settings(models.names)
    server = uvicorn.Server(config(told, models, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{told.server.port}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(20)


def remote(url: str, name: str = "llama", key: str = KEY, **other: Any) -> RemoteRunner:
    return RemoteModels(url, key, **other).open(name).result()
