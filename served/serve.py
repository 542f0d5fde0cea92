"""Start a server of models, or make a key for one."""

from __future__ import annotations

import argparse
import hashlib
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from hosting.settings import WrongSetting
from model_runner.local.local_models import LocalModels
from served.app import app
from served.settings import ServedSettings, read

KEEP_ALIVE = 75  # seconds that a connection without a question stays open, longer than a client keeps it
BYTES = 32  # of a key


def main(arguments: Sequence[str]) -> int:
    """Serve by a file of settings; its exit status."""
    parser = argparse.ArgumentParser(prog="attention-atlas runner", description="Serve models to apps and notebooks.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("settings", nargs="?", help="the file of settings (see docs/scale.md)")
    what.add_argument("--new-key", metavar="NAME", help="write a new key, and what the file of settings has of it")
    asked = parser.parse_args(arguments)
    if asked.new_key:
        sys.stdout.write(new_key(asked.new_key))
        return 0
    try:
        settings = read(Path(asked.settings))
    except WrongSetting as error:
        sys.stderr.write(f"{error}\n")
        return 1
    uvicorn.Server(config(settings)).run()
    return 0


def config(settings: ServedSettings, models: LocalModels | None = None, log_level: str = "info") -> uvicorn.Config:
    """How uvicorn serves them; ``models``: those that are there already."""
    listed = settings.models
    models = models or LocalModels(listed.listed, keep=settings.limits.memory, most=listed.most)
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
    """A key, and the lines that allow it."""
    key = secrets.token_urlsafe(BYTES)
    digest = hashlib.sha256(key.encode()).hexdigest()
    return f'{key}\n\n[[keys]]\nname = "{name}"\nsha256 = "{digest}"\n'
