"""Start Ray, or join the cluster that there is, and run the applications of a file of settings until the end.

SIGHUP reads the file again and replaces the replicas one by one.
"""

from __future__ import annotations

import logging
import re
import signal
import socket
import sys
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any

from hosting.settings import WrongSetting
from served.ray.cluster import check_cluster, join, leave
from served.ray.layout import layout, shortage
from served.settings import ServedSettings, read

LOG = logging.getLogger(__name__)


def main(path: Path) -> int:
    """Serve by this file of settings, until the process is ended; its exit status."""
    try:
        settings = read(path)
        check_start(settings)
    except WrongSetting as error:
        sys.stderr.write(f"{error}\n")
        return 1
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        start(settings)
        told = _signals()  # Ray has set its own
        deploy(settings)
        LOG.info("The models are at %s", url(settings))
        while told.get() == signal.SIGHUP:
            _deploy_again(path)
    except WrongSetting as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        stop(settings)
    return 0


def _signals() -> SimpleQueue[int]:
    """The signals to replace the replicas and to end, as they come."""
    told: SimpleQueue[int] = SimpleQueue()

    def put(number: int, _frame: FrameType | None) -> None:
        told.put(number)

    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, put)
    return told


def url(settings: ServedSettings) -> str:
    """Of the models."""
    scheme = "https" if settings.server.certificate else "http"
    return f"{scheme}://{settings.server.address}:{settings.server.port}"


def check_start(settings: ServedSettings) -> None:
    """What would keep Ray from starting, or make it dangerous. Raises WrongSetting."""
    check_cluster(settings.ray)
    if settings.ray.address:
        return
    server = settings.server
    with socket.socket(socket.AF_INET6 if ":" in server.address else socket.AF_INET) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((server.address, server.port))
        except OSError as error:
            raise WrongSetting(
                f"Nothing can listen on server.address {server.address}, server.port {server.port}: {error.strerror}."
            ) from error


def start(settings: ServedSettings, cpus: int | None = None) -> None:
    """Ray and its HTTP proxies, on this machine alone where the settings name no cluster. Raises WrongSetting."""
    if missing := shortage(settings, join(settings.ray, cpus)):
        raise WrongSetting(missing)
    from ray import serve  # pyright: ignore[reportMissingModuleSource]  # optional

    server = settings.server
    serve.start(
        proxy_location="EveryNode",
        http_options={
            "host": server.address,
            "port": server.port,
            "request_timeout_s": None,  # a question has its own
            "keep_alive_timeout_s": 75,
            "ssl_keyfile": server.key or None,
            "ssl_certfile": server.certificate or None,
        },
    )


def deploy(settings: ServedSettings, kind: Any = None) -> None:
    """Every application; one that runs already has its replicas replaced one by one. Raises WrongSetting."""
    from ray import serve  # pyright: ignore[reportMissingModuleSource]

    from served.ray.replica import Replica, deployed

    wanted, there = layout(settings), set(serve.status().applications)
    for about, route in wanted:
        try:
            serve.run(deployed(settings, about, kind or Replica), name=about.name, route_prefix=route)
        except RuntimeError as error:
            said = _cause(serve.status().applications.get(about.name))
            if about.name not in there:
                serve.delete(about.name)
            raise WrongSetting(f"The application {about.name} does not start: {said}") from error
    for name in there - {one.about.name for one in wanted}:
        serve.delete(name)


def stop(settings: ServedSettings) -> None:
    """Leave the cluster; one that was started here ends."""
    import ray  # pyright: ignore[reportMissingModuleSource]

    if not ray.is_initialized():
        return
    if not settings.ray.address:
        from ray import serve  # pyright: ignore[reportMissingModuleSource]

        serve.shutdown()
    leave()


def _deploy_again(path: Path) -> None:
    try:
        settings = read(path)
        deploy(settings)
        LOG.info("The replicas were replaced.")
    except WrongSetting as error:  # what runs goes on
        LOG.warning("%s", error)


def _cause(status: Any) -> str:
    """What a replica of this application raised, its last line."""
    said = "" if status is None else "\n".join(one.message for one in status.deployments.values())
    lines = [line.strip() for line in said.splitlines() if line.strip() and set(line.strip()) != {"^"}]
    return re.sub(r"^[\w.]+: ", "", lines[-1]) if lines else "see Ray's logs."
