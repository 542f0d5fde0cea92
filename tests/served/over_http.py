"""A pytest plugin: what the project's own tests ask a runner of a tiny family, they ask over HTTP.

    python -m pytest -p tests.served.over_http tests/model_runner/test_wire.py

The models are in this process all the same, behind a server of it, so that a test has both sides at hand.
"""

from __future__ import annotations

import functools
from contextlib import ExitStack
from typing import Any

STACK = ExitStack()


def pytest_sessionstart(session: Any) -> None:
    """Before any test is collected; not at import, which jaxtyping's plugin has to come before."""
    import torch

    from tests.model_runner import cases
    from tests.served import server

    build = cases.runner_of

    @functools.cache
    def local(name: str, dtype: torch.dtype) -> Any:
        return build(cases.FAMILY[name], dtype=dtype)

    class Tiny(server.TheseModels):
        def open(self, name: str, **other: Any) -> Any:
            family, _, dtype = name.partition(" ")
            loading = server.PendingLoad()
            loading.future = server.Future()
            loading.future.set_result(local(family, getattr(torch, dtype)))
            return loading

    server.TheseModels = Tiny
    ask_at(STACK.enter_context(server.serving({}, server.settings(names()))))


def names() -> tuple[str, ...]:
    """Of the tiny families, as models of a server."""
    from tests.model_runner import cases

    return tuple(f"{name} {dtype}" for name in cases.FAMILY for dtype in ("float32", "bfloat16"))


def ask_at(url: str) -> None:
    """From here on the tests ask this server."""
    import torch

    from tests.model_runner import cases
    from tests.served import server

    build, models = cases.runner_of, server.RemoteModels(url, server.KEY)

    @functools.cache
    def shared_runner(name: str, dtype: torch.dtype = torch.float32) -> Any:
        return models.open(f"{name} {str(dtype).removeprefix('torch.')}").result()

    def runner_of(family: Any, device: str = "cpu", dtype: torch.dtype = torch.float32) -> Any:
        return shared_runner(family.name, dtype) if device == "cpu" else build(family, device, dtype)

    cases.shared_runner, cases.runner_of = shared_runner, runner_of


def pytest_sessionfinish(session: Any) -> None:
    """The server ends."""
    STACK.close()
