"""The Ray Serve applications for a settings file and their options. Imports neither Ray nor torch."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from served.settings import RayApplication, RayCluster, ServedSettings

EVERY = "models"  # name of the only application
ROUTER = "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"
AT_ONCE = 64  # questions per replica, including those that wait for its model; more go to the next replica
IN_LINE = 1024  # questions queued in the proxy; further ones get 503, and clients retry
# seconds between health checks of a replica, and for its answer; it is replaced after three failures
LOOK, PATIENCE = 2.0, 5.0


class RoutedApplication(NamedTuple):
    """An application and the path under which it answers."""

    about: RayApplication
    route: str


def layout(settings: ServedSettings) -> tuple[RoutedApplication, ...]:
    """The applications. The first, or the one with several models, answers at the root and lists all models.

    Each of the others has one model and answers under its path.
    """
    applications = settings.applications or (RayApplication(EVERY, settings.models.listed),)
    root = max(applications, key=lambda one: len(one.models))
    return tuple(RoutedApplication(one, "/" if one is root else f"/v1/models/{one.models[0]}") for one in applications)


def options(about: RayApplication, cluster: RayCluster) -> dict[str, Any]:
    """Options of a deployment, as for ``ray.serve.deployment``."""
    found: dict[str, Any] = {
        "max_ongoing_requests": AT_ONCE,
        "max_queued_requests": IN_LINE,
        "health_check_period_s": LOOK,
        "health_check_timeout_s": PATIENCE,
        "graceful_shutdown_timeout_s": float(cluster.grace),
        "graceful_shutdown_wait_loop_s": 0.5,
        "ray_actor_options": {"num_cpus": about.cpus, "num_gpus": about.gpus},
        # requests about one text go to one replica, by the header x-session-id
        "request_router_config": {
            "request_router_class": ROUTER,
            "request_router_kwargs": {"num_virtual_nodes": 100, "num_fallback_replicas": 1},
        },
    }
    if about.at_most == about.replicas:
        return found | {"num_replicas": about.replicas}
    return found | {
        "autoscaling_config": {
            "min_replicas": about.replicas,
            "max_replicas": about.at_most,
            "target_ongoing_requests": about.questions,
            "upscale_delay_s": 5.0,
            "downscale_delay_s": 300.0,  # moving a text to another replica means capturing it again
        }
    }


def shortage(settings: ServedSettings, there: dict[str, float]) -> str:
    """What the cluster lacks for the minimum number of replicas, as a sentence; empty if there is enough."""
    applications = [one.about for one in layout(settings)]
    for kind, what, cut in (("CPU", "CPUs", 0.0), ("GPU", "GPUs", 0.0)):
        wanted = sum(one.replicas * (one.cpus if kind == "CPU" else one.gpus) for one in applications)
        has = there.get(kind, cut)
        if wanted > has:
            return f"The applications ask for {wanted:g} {what}, and the cluster has {has:g}."
    return ""


def threads(cpus: float) -> int:
    """Number of torch threads; Ray itself would give a replica one, with half a CPU or with four."""
    return max(1, math.ceil(cpus))
