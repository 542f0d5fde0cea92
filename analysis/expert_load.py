"""Mixture of experts for display: the expert of each token, the load balance, and total and active parameters.

Shazeer et al. 2017, arXiv:1701.06538; load and its balance: Fedus et al. 2022, arXiv:2101.03961, section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model_runner.expert_questions import Routed, Routing


@dataclass(frozen=True)
class Held:
    """Parameters that are ``held``, and those active for a token. ``count``: of experts, 0 for a module without."""

    name: str
    held: int
    used: int
    count: int = 0


def weight_grid(routed: Routed) -> Float[np.ndarray, "experts tokens"]:
    """The factor of each expert's output at each token; NaN if the token is not routed to it."""
    found = np.full((routed.n_experts, len(routed.picks)), np.nan)
    for token, (picks, weights) in enumerate(zip(routed.picks.tolist(), routed.weights.tolist(), strict=True)):
        found[picks, token] = weights
    return found


def loads(routing: Routing) -> Float[np.ndarray, "layers experts"]:
    """The share of a layer's routing decisions for each expert; a token counts once per selected expert.

    A row sums to 1; NaN where a layer has fewer experts than another.
    """
    found = np.full((len(routing.layers), max(layer.n_experts for layer in routing.layers)), np.nan)
    for row, layer in zip(found, routing.layers, strict=True):
        counts = np.bincount(layer.picks.numpy().ravel(), minlength=layer.n_experts)
        row[: layer.n_experts] = counts / counts.sum()
    return found


def imbalance(load: Float[np.ndarray, "experts"]) -> float:
    """The busiest expert's load relative to the even share: 1 if perfectly balanced."""
    load = load[~np.isnan(load)]
    return float(load.max() * len(load))


def parameters(routing: Routing, place: int) -> tuple[Held, ...]:
    """Of one layer's experts, of each module beside them, of all these together, and of the whole model."""
    layer = routing.layers[place]
    experts = Held("experts", layer.n_experts * layer.n_parameters, _used(layer), layer.n_experts)
    beside = [Held(one.name, one.n_parameters, one.n_parameters) for one in layer.beside]
    together = sum(one.held for one in (experts, *beside)), sum(one.used for one in (experts, *beside))
    idle = sum(one.n_experts * one.n_parameters - _used(one) for one in routing.layers)
    whole = Held("model", routing.n_parameters, routing.n_parameters - idle)
    return (experts, *beside, Held("ffn", *together), whole)


def _used(layer: Routed) -> int:
    return layer.picks.shape[1] * layer.n_parameters
