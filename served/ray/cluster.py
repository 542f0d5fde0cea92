"""Join a Ray cluster, or start one on this machine for this machine only; both with token authentication."""

from __future__ import annotations

import importlib.util
import logging
import os
import secrets
import socket
import sys
from typing import Any

from hosting.settings import WrongSetting, in_bytes
from served.settings import RayCluster

NO_RAY = 'Ray is not installed. Run: pip install "attention-atlas[ray]"'
MODE, TOKEN, TOKEN_FILE = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"
# Without this, Ray 2.60 on Linux replaces 127.0.0.1 by the machine's own address.
ONLY_HERE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
KNOCKING = 5.0  # seconds to wait for the cluster's port
LEAST_STORE = 80 << 20  # bytes, Ray's minimum


def check_cluster(cluster: RayCluster) -> None:
    """Raises WrongSetting if Ray is not installed, or if anyone who can reach the cluster could run code on it."""
    if importlib.util.find_spec("ray") is None:
        raise WrongSetting(NO_RAY)
    mode = os.environ.get(MODE)
    if mode != "token" if cluster.address else mode not in (None, "", "token"):
        raise WrongSetting(
            f"{MODE} is not “token”: whoever reached this cluster could run code on it. Set it on every machine, "
            f"with the same {TOKEN} or {TOKEN_FILE}."
        )


def join(cluster: RayCluster, cpus: int | None = None) -> dict[str, float]:
    """Join or start the cluster and return its resources, "CPU" and "GPU". Raises WrongSetting.

    ``cpus`` applies to a cluster that is started here.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if not cluster.address:
        os.environ.setdefault(ONLY_HERE, "0")
        if "ray" not in sys.modules:  # Ray reads the environment once, and otherwise generates a token of its own
            os.environ[MODE] = "token"
            if not os.environ.get(TOKEN) and not os.environ.get(TOKEN_FILE):
                os.environ[TOKEN] = secrets.token_hex(32)
    import ray  # pyright: ignore[reportMissingModuleSource]  # optional

    told: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}
    if cluster.address:
        _knock(cluster.address)
        told["address"] = cluster.address
    else:
        told |= {"num_cpus": cpus, "include_dashboard": cluster.dashboard == "on"}
        told["object_store_memory"] = max(in_bytes(cluster.store), LEAST_STORE)
    try:
        ray.init(**told)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        what = f"The Ray cluster {cluster.address} cannot be joined" if cluster.address else "Ray does not start"
        raise WrongSetting(f"{what}: {said}") from error
    return ray.cluster_resources()


def _knock(address: str) -> None:
    """Raises WrongSetting if nothing listens there; Ray itself would retry for more than a minute."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise WrongSetting(f"The Ray cluster's address is “{address}”; it must be like 10.0.0.11:6379.")
    try:
        socket.create_connection((host, int(port)), timeout=KNOCKING).close()
    except (OSError, OverflowError) as error:
        raise WrongSetting(f"The Ray cluster {address} cannot be joined: {error}.") from error


def leave() -> None:
    """Leave the cluster, ending one that was started here."""
    import ray  # pyright: ignore[reportMissingModuleSource]  # optional

    ray.shutdown()
