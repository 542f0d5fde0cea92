"""Which applications Ray Serve runs for a file of settings, with their options; knows neither Ray nor torch."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from served.settings import RayApplication, RayCluster, ServedSettings

EVERY = "models"  # the name of the only application
ROUTER = "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"
AT_ONCE = 64  # questions of a replica, those that wait for its model too; the next replica takes more
IN_LINE = 1024  # that wait in the proxy; it answers more with 503, and clients try again
LOOK, PATIENCE = 2.0, 5.0  # seconds between two looks at a replica, and for its answer; after three it is replaced


class RoutedApplication(NamedTuple):
    """One application, and the path below which it answers."""

    about: RayApplication
    route: str


def layout(settings: ServedSettings) -> tuple[RoutedApplication, ...]:
    """The application of several models, or else the first, answers at the root, and says which models there are.

    Each of the others has one model, and answers below its path.
    """
    applications = settings.applications or (RayApplication(EVERY, settings.models.listed),)
    root = max(applications, key=lambda one: len(one.models))
    return tuple(RoutedApplication(one, "/" if one is root else f"/v1/models/{one.models[0]}") for one in applications)


def options(about: RayApplication, cluster: RayCluster) -> dict[str, Any]:
    """Of a deployment, as ``ray.serve.deployment`` takes them."""
    found: dict[str, Any] = {
        "max_ongoing_requests": AT_ONCE,
        "max_queued_requests": IN_LINE,
        "health_check_period_s": LOOK,
        "health_check_timeout_s": PATIENCE,
        "graceful_shutdown_timeout_s": float(cluster.grace),
        "graceful_shutdown_wait_loop_s": 0.5,
        "ray_actor_options": {"num_cpus": about.cpus, "num_gpus": about.gpus},
        # what belongs to one text is asked at one replica, by the header x-session-id
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
            "downscale_delay_s": 300.0,  # a text that moves is read again
        }
    }


def shortage(settings: ServedSettings, there: dict[str, float]) -> str:
    """What the cluster has too little of for the least replicas, as a sentence; nothing if there is enough."""
    applications = [one.about for one in layout(settings)]
    for kind, what, cut in (("CPU", "CPUs", 0.0), ("GPU", "GPUs", 0.0)):
        wanted = sum(one.replicas * (one.cpus if kind == "CPU" else one.gpus) for one in applications)
        has = there.get(kind, cut)
        if wanted > has:
            return f"The applications ask for {wanted:g} {what}, and the cluster has {has:g}."
    return ""


def threads(cpus: float) -> int:
    """Of torch: Ray would give a replica of half a CPU one, and one of four one as well."""
    return max(1, math.ceil(cpus))
