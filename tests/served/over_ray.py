"""A pytest plugin: what the project's own tests ask a runner of a tiny family, they ask two replicas on Ray.

In a network namespace alone (tests/served/namespace.py): python -m pytest -p tests.served.over_ray FILE
"""

from __future__ import annotations

from typing import Any

from tests.served.namespace import alone
from tests.served.over_http import ask_at, names

STARTED: list[Any] = []


def replica() -> Any:
    """The class of replicas that build the tiny families, each when it is asked first."""
    from served.ray.replica import Replica

    class TinyReplica(Replica):
        def models(self) -> Any:
            import torch

            from tests.model_runner.cases import FAMILY, runner_of
            from tests.served.server import Future, PendingLoad, TheseModels

            class Tiny(TheseModels):
                built: dict[str, PendingLoad]

                def open(self, name: str, **other: Any) -> Any:
                    if name not in self.built:
                        family, _, dtype = name.partition(" ")
                        loading = self.built[name] = PendingLoad()
                        loading.future = Future()
                        loading.future.set_result(runner_of(FAMILY[family], dtype=getattr(torch, dtype)))
                    return self.built[name]

            tiny = Tiny({})
            tiny.built = dict[str, PendingLoad]()
            return tiny

    return TinyReplica


def pytest_sessionstart(session: Any) -> None:
    """Before any test is collected; not at import, which jaxtyping's plugin has to come before."""
    from dataclasses import replace

    from served.ray import start
    from served.settings import RayApplication, RayCluster
    from tests.served.server import settings

    assert alone(), "Ray is started in a network namespace without other interfaces than lo"
    told = settings(names())
    one = RayApplication("tiny", names(), replicas=2, cpus=0.5)
    told = replace(told, models=replace(told.models, most=1), applications=(one,), ray=RayCluster(grace=5))
    STARTED.append(told)
    start.start(told, cpus=4)
    start.deploy(told, replica())
    ask_at(start.url(told))


def pytest_sessionfinish(session: Any) -> None:
    """Ray ends."""
    from served.ray import start

    for told in STARTED:
        start.stop(told)
