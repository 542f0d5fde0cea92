"""Start Ray or join an existing cluster, and run the applications of a settings file until the process ends.

SIGHUP rereads the file and replaces the replicas one by one.
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
    """Serve with this settings file until the process ends; returns the exit status."""
    try:
        settings = read(path)
        check_start(settings)
    except WrongSetting as error:
        sys.stderr.write(f"{error}\n")
        return 1
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        start(settings)
        told = _signals()  # Ray has installed its own handlers
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
    """A queue of the received signals to replace the replicas and to end."""
    told: SimpleQueue[int] = SimpleQueue()

    def put(number: int, _frame: FrameType | None) -> None:
        told.put(number)

    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, put)
    return told


def url(settings: ServedSettings) -> str:
    """The URL of the model server."""
    scheme = "https" if settings.server.certificate else "http"
    return f"{scheme}://{settings.server.address}:{settings.server.port}"


def check_start(settings: ServedSettings) -> None:
    """Raises WrongSetting if Ray could not start, or would be insecure."""
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
    """Start Ray and its HTTP proxies, on this machine only if the settings name no cluster. Raises WrongSetting."""
    if missing := shortage(settings, join(settings.ray, cpus)):
        raise WrongSetting(missing)
    from ray import serve  # pyright: ignore[reportMissingModuleSource]  # optional

    server = settings.server
    serve.start(
        proxy_location="EveryNode",
        http_options={
            "host": server.address,
            "port": server.port,
            "request_timeout_s": None,  # each question has its own timeout
            "keep_alive_timeout_s": 75,
            "ssl_keyfile": server.key or None,
            "ssl_certfile": server.certificate or None,
        },
    )


def deploy(settings: ServedSettings, kind: Any = None) -> None:
    """Deploy every application; replicas of a running one are replaced one by one. Raises WrongSetting."""
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
    """Leave the cluster, ending one that was started here."""
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
    except WrongSetting as error:  # what is running continues
        LOG.warning("%s", error)


def _cause(status: Any) -> str:
    """The last line of the error that a replica of this application raised."""
    said = "" if status is None else "\n".join(one.message for one in status.deployments.values())
    lines = [line.strip() for line in said.splitlines() if line.strip() and set(line.strip()) != {"^"}]
    return re.sub(r"^[\w.]+: ", "", lines[-1]) if lines else "see Ray's logs."
