"""A replica: the endpoints of :mod:`served.app` with the models of its application, in a process of its own."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hosting.settings import WrongSetting
from jobs.uncollected_imports import uncollected_imports
from served.ray.layout import layout, options, threads
from served.settings import RayApplication, ServedSettings, read

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from model_runner.local.local_models import LocalModels

LOG = logging.getLogger(__name__)


class Replica:
    """The class that ``ray.serve`` instantiates once per process and checks for health."""

    def __init__(self, settings: ServedSettings, about: RayApplication) -> None:
        """Load the models, so that nobody waits for an added replica. Raises RunnerError if one fails."""
        self._settings, self._about = settings, about
        set_up_torch(about)
        self._models = self.models()
        for name in about.models[: settings.models.most]:
            self._models.open(name).result()

    def models(self) -> LocalModels:
        """The models of this application."""
        with uncollected_imports():  # here, since the process that starts Ray needs no torch
            from model_runner.local.local_models import LocalModels

        limits = self._settings.limits
        return LocalModels(
            self._about.models, keep=limits.memory, most=self._settings.models.most, silence=float(limits.silence)
        )

    def __serve_build_asgi_app__(self) -> ASGIApp:
        from served.app import app

        return _at_root(app(self._settings, self._models))

    def check_health(self) -> None:
        """Raises RuntimeError once a model hangs: a hanging thread cannot be ended, but its process can."""
        if self._models.hung:
            raise RuntimeError("a model hangs")


def set_up_torch(about: RayApplication) -> None:
    """Set torch's threads to its CPUs and, on a shared GPU, limit memory to the GPU's share."""
    import torch

    torch.set_num_threads(threads(about.cpus))
    if 0 < about.gpus < 1:  # Ray counts shares but does not enforce them
        for device in range(torch.cuda.device_count()):
            torch.cuda.set_per_process_memory_fraction(about.gpus, device)


def deployed(settings: ServedSettings, about: RayApplication, kind: type[Replica] = Replica) -> Any:
    """The application, as for ``ray.serve.run``."""
    from ray import serve  # pyright: ignore[reportMissingModuleSource]  # optional

    return serve.deployment(name=about.name, **options(about, settings.ray))(serve.ingress()(kind)).bind(
        settings, about
    )


def built(told: dict[str, str]) -> Any:
    """Build an application for a RayService (deploy/ray/rayservice.yaml). Raises WrongSetting.

    ``settings`` is the file, ``application`` the name of an application in it.
    """
    settings = read(Path(told["settings"]))
    known = {one.about.name: one.about for one in layout(settings)}
    if told["application"] not in known:
        raise WrongSetting(f"There is no application {told['application']}; there are {', '.join(known)}.")
    return deployed(settings, known[told["application"]])


def _at_root(inner: ASGIApp) -> ASGIApp:
    """Restore full paths: Serve strips the application's route prefix, and our routes include it."""

    async def whole(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["root_path"] = ""
        await inner(scope, receive, send)

    return whole
