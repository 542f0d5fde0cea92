"""How the KV cache grows during generation, based on transformers' cache for the start of the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from model_runner.kv import CachedLayer


@dataclass(frozen=True)
class CacheGrowth:
    """``fixed`` bytes from the first token on, and for each part bytes per token, up to a number of tokens (None: all).

    ``read`` tokens are those of ``fixed``: an encoder's source. ``shape`` is (layers, kv_heads, d_head, bytes per
    number) if all layers are equal and keep every token, so that a token takes 2 · their product; else None.
    """

    parts: tuple[tuple[int, int | None], ...]
    shape: tuple[int, int, int, int] | None
    fixed: int = 0
    read: int = 0

    def at(self, n_tokens: int) -> int:
        """The bytes after this many generated tokens."""
        return self.fixed + sum(each * (n_tokens if most is None else min(n_tokens, most)) for each, most in self.parts)


def growth_of(layers: Sequence[CachedLayer], across: Sequence[CachedLayer] = ()) -> CacheGrowth:
    """``layers`` belong to the growing text, after any start of it; ``across`` to an encoder's source, which stays.

    A layer that uses another layer's keys and values stores none; one with a window of w tokens keeps the last w − 1.
    """
    own = [layer for layer in layers if _rows(layer)]
    parts: dict[int | None, int] = defaultdict(int)
    shapes: set[tuple[int, int, int] | None] = set()
    for layer in own:
        parts[None if layer.window is None else layer.window - 1] += layer.n_bytes // _rows(layer)
        shapes.add(_alike(layer))
    shape = shapes.pop() if len(shapes) == 1 and not across else None
    return CacheGrowth(
        parts=tuple((each, most) for most, each in parts.items()),
        shape=None if shape is None else (len(own), *shape),
        fixed=sum(layer.n_bytes for layer in across),
        read=max(map(_rows, across), default=0),
    )


def _rows(layer: CachedLayer) -> int:
    return 0 if layer.k_shape is None else layer.k_shape[1]


def _alike(layer: CachedLayer) -> tuple[int, int, int] | None:
    """Key/value heads, dimensions of a key, bytes per number; None if values differ from keys, or not all tokens are
    kept.
    """
    if layer.window is not None or layer.k_shape is None or layer.k_shape != layer.v_shape:
        return None
    kv_heads, n_tokens, d_head = layer.k_shape
    return kv_heads, d_head, layer.n_bytes // (2 * kv_heads * n_tokens * d_head)
