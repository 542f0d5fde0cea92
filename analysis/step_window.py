"""Selection of the few tokens and dimensions of a head that are shown number by number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from analysis.joined import first_query, n_looked_at
from model_runner.capture import Capture
from model_runner.errors import NotRecoverable
from model_runner.positions import RotaryLayout, layout_of

TOKENS, DIMENSIONS = 6, 6


@dataclass(frozen=True)
class StepWindow:
    """Ascending positions of the query tokens and the key tokens."""

    queries: tuple[int, ...]
    keys: tuple[int, ...]


def window(capture: Capture, layer: int, head: int, query: int) -> StepWindow:
    """The query with its keys of largest weight; in cross-attention, with the preceding target tokens."""
    n_keys, first = n_looked_at(capture), first_query(capture)
    weights = capture.weights(layer, head, queries=slice(query, query + 1), shares=True)[0, :n_keys]
    order = weights.argsort(descending=True, stable=True).tolist()
    if first:
        return StepWindow(tuple(range(max(first, query - TOKENS + 1), query + 1)), tuple(sorted(order[:TOKENS])))
    others = [key for key in order if key != query][: TOKENS - 1]
    same = tuple(sorted([query, *others]))
    return StepWindow(same, same)


def rotation_of(capture: Capture, layer: int) -> RotaryLayout | None:
    """The layer's rotation of queries and keys; None if there is none, or it cannot be inferred."""
    try:
        return layout_of(capture, layer)
    except NotRecoverable:  # includes NoRotation
        return None


def largest(sizes: Float[np.ndarray, "d"], units: list[tuple[int, ...]], most: int = DIMENSIONS) -> list[int]:
    """The dimensions of largest magnitude, at most this many, ascending; those of a unit (a rotated pair) together."""
    found: list[int] = []
    for unit in sorted(units, key=lambda unit: -sum(sizes[i] for i in unit)):
        if len(found) + len(unit) <= most:
            found += unit
    return sorted(found)


def units_of(d_head: int, layout: RotaryLayout | None) -> list[tuple[int, ...]]:
    """Rotated pairs, and every other dimension by itself."""
    pairs: Int[np.ndarray, "pairs 2"] = np.empty((0, 2), int) if layout is None else layout.pairs.numpy()
    turned = {int(i) for i in pairs.ravel()}
    return [(int(a), int(b)) for a, b in pairs] + [(i,) for i in range(d_head) if i not in turned]
