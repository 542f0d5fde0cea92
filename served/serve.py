"""Start a model server, or generate an access key for one."""

from __future__ import annotations

import hashlib
import logging
import secrets
import sys
from pathlib import Path

import uvicorn

from hosting.settings import WrongSetting
from model_runner.local.local_models import LocalModels
from served.app import app
from served.settings import ServedSettings, read

KEEP_ALIVE = 75  # seconds for which an idle connection stays open, longer than in the client
BYTES = 32  # of a key


def main(path: Path) -> int:
    """Serve with this settings file until the process ends; returns the exit status."""
    try:
        settings = read(path)
    except WrongSetting as error:
        sys.stderr.write(f"{error}\n")
        return 1
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    uvicorn.Server(config(settings)).run()
    return 0


def config(settings: ServedSettings, models: LocalModels | None = None, log_level: str = "info") -> uvicorn.Config:
    """The uvicorn configuration; ``models`` overrides the models to serve."""
    listed = settings.models
    models = models or LocalModels(
        listed.listed, keep=settings.limits.memory, most=listed.most, silence=float(settings.limits.silence)
    )
    return uvicorn.Config(
        app(settings, models),
        host=settings.server.address,
        port=settings.server.port,
        ssl_certfile=settings.server.certificate or None,
        ssl_keyfile=settings.server.key or None,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=10,
        server_header=False,
        access_log=False,
        log_level=log_level,
        lifespan="off",
    )


def new_key(name: str) -> str:
    """Generate a key and the settings that allow it."""
    key = secrets.token_urlsafe(BYTES)
    digest = hashlib.sha256(key.encode()).hexdigest()
    return f'{key}\n\n[[keys]]\nname = "{name}"\nsha256 = "{digest}"\n'
