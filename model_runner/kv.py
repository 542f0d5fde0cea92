"""Values about the KV cache: its content for each layer, and what it saves per step."""

from __future__ import annotations

from dataclasses import dataclass

from model_runner.tokens import Token


@dataclass(frozen=True)
class CachedLayer:
    """One layer of a cache after a text was read: the shapes of its tensors, and their bytes in memory.

    ``k_shape`` is (kv_heads, tokens, d_head), ``v_shape`` (kv_heads, tokens, d_value); None if the layer has no softmax
    attention. ``window`` is the layer's attention window, the query itself included: its cache stores one token less,
    since the next query brings its own. ``state_bytes`` is what else it stores, independent of length.
    """

    layer: int
    k_shape: tuple[int, ...] | None
    v_shape: tuple[int, ...] | None
    n_bytes: int
    window: int | None
    state_bytes: int


@dataclass(frozen=True)
class RaceStep:
    """One token generated twice, at ``position`` of the text: with the cache, and without.

    Seconds are those of its forward, including the choice of the likeliest token. The first step reads the text in both
    lanes.
    """

    position: int
    cached: Token
    uncached: Token
    cached_seconds: float
    uncached_seconds: float
    is_end: bool  # the model's own generation would stop here
