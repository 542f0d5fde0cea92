"""The size of a KV cache in bytes: by formula from the shapes of attention, and as measured on a real cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention import masks
from model_runner import Capture
from model_runner.kv import CachedLayer
from model_runner.record import LayerRecord

SCALE_BYTES = 4  # of the float32 scale of each row of int8 numbers


@dataclass(frozen=True)
class CacheBytes:
    """``shape`` is (layers, kv_heads, d_head, tokens, bytes per number) if all layers are equal.

    Then ``formula`` is 2 · their product. Otherwise it is a sum over layers; one that uses another layer's keys and
    values (Gemma 3n, Gemma 4) has none of its own. ``latent``: numbers per token and layer that replace keys and
    values, one compressed vector for all heads (MLA, arXiv:2405.04434). ``states`` is what layers without softmax
    attention store, independent of length; it is in neither number.
    """

    measured: int
    formula: int
    shape: tuple[int, int, int, int, int] | None
    latent: int | None
    states: int


def cache_bytes(capture: Capture, layers: Sequence[CachedLayer]) -> CacheBytes:
    """The cache's size after the capture's text, measured and by the shapes of its attention."""
    n_tokens = len(capture.keys)
    shapes: set[tuple[int, int, int, int]] = set()
    latents: set[int | None] = set()
    formula = 0
    for record, layer in zip(capture.records, layers, strict=True):
        if record is None or layer.k_shape is None:
            continue
        rows = n_tokens if layer.window is None else min(n_tokens, layer.window - 1)
        kv_heads, d_head, d_value, size = (*_heads(record), record.v.shape[2], record.k.element_size())
        if record.difference is not None:  # both heads of a pair use the values of both, concatenated
            d_value //= 2
        latent = _latent(record, layer)
        formula += (kv_heads * (d_head + d_value) if latent is None else latent) * rows * size
        latents.add(latent)
        shapes |= {(kv_heads, d_head, rows, size), (kv_heads, d_value, rows, size)}
    alike = len(shapes) == 1 and latents == {None}
    return CacheBytes(
        measured=sum(layer.n_bytes for layer in layers),
        formula=formula,
        shape=(sum(layer.k_shape is not None for layer in layers), *shapes.pop()) if alike else None,
        latent=latents.pop() if len(latents) == 1 else None,
        states=sum(layer.state_bytes for layer in layers),
    )


def _heads(record: LayerRecord) -> tuple[int, int]:
    return record.k.shape[0], record.k.shape[2]


def _latent(record: LayerRecord, layer: CachedLayer) -> int | None:
    """Numbers per token if the cache holds other vectors than attention's keys and values."""
    if layer.k_shape is None or layer.v_shape is None or (layer.k_shape[0], layer.k_shape[2]) == _heads(record):
        return None
    return _numbers(layer)


def _numbers(layer: CachedLayer) -> int:
    """Numbers per token."""
    return sum(shape[0] * shape[2] for shape in (layer.k_shape, layer.v_shape) if shape is not None)


@dataclass(frozen=True)
class Sharing:
    """The same model with another number of key/value heads; ``own`` marks the model's own."""

    kv_heads: int
    n_bytes: int
    own: bool

    def kind(self, n_heads: int) -> str:
        """MHA: one per query head; MQA: one for all; GQA: groups; MLA: a latent for all (0 heads)."""
        names = {n_heads: "MHA", 1: "MQA", 0: "MLA"}
        return names.get(self.kv_heads, "GQA")


def sharings(capture: Capture, found: CacheBytes) -> tuple[Sharing, ...]:
    """Every way of dividing the query heads evenly, most heads first; the cache is proportional to the key/value heads.

    A model with a latent has that too; one whose layers differ in heads has only its own.
    """
    heads = {(record.q.shape[0], record.k.shape[0]) for record in capture.records if record is not None}
    if len(heads) != 1:
        return (Sharing(max(kv_heads for _, kv_heads in heads), found.measured, own=True),)
    n_heads, own = heads.pop()
    possible = [count for count in range(n_heads, 0, -1) if n_heads % count == 0]
    if found.latent is None:
        return tuple(Sharing(count, found.measured * count // own, own=count == own) for count in possible)
    whole = sum((record.k.nbytes + record.v.nbytes) for record in capture.records if record is not None)
    others = [Sharing(count, whole * count // own, own=False) for count in possible]
    return (*others, Sharing(0, found.measured, own=True))


def bytes_read(
    capture: Capture, layers: Sequence[CachedLayer], *, window: int | None = None, sinks: int = 0, int8: bool = False
) -> int:
    """Bytes that the cache needs for the newest query, the keys that it attends to and their values, after such an
    edit.

    ``window`` counts the query itself. In int8 a number takes a byte, plus one scale per row and head.
    """
    total = 0
    for record, layer in zip(capture.records, layers, strict=True):
        if record is not None and layer.k_shape is not None and layer.v_shape is not None:
            scales = SCALE_BYTES * (layer.k_shape[0] + layer.v_shape[0])
            token = _numbers(layer) + scales if int8 else _numbers(layer) * record.k.element_size()
            kept = _rows_read(record, window, sinks)  # a layer's own window leaves room for the newest token's key
            total += (kept if layer.window is None else min(kept, layer.window - 1)) * token
    return total


def _rows_read(record: LayerRecord, window: int | None, sinks: int) -> int:
    last, keys = record.k.shape[1] - 1, slice(0, record.k.shape[1])
    device = record.k.device
    seen = record.mask.tile(slice(last, last + 1), keys, device)
    if window is not None:
        seen = seen & masks.tile(masks.Recent(window, sinks=sinks), slice(last, last + 1), keys, device=device)
    return int(seen.sum())
