"""Names of heads in lists, with the key/value head that they share."""

from __future__ import annotations

from model_runner.capture import Capture
from model_runner.edits import SharedKeys, edits_of


def head_name(capture: Capture, layer: int, head: int) -> str:
    """H5, or "H5 · kv 2" if a group of heads shares key/value head 2.

    "H5 · 1−" if the model subtracts it from head 1.
    """
    size, record = group_size(capture, layer), capture.record(layer)
    pair = ""
    if record.difference is not None:
        first, second = record.difference.pair(head)
        pair = f" − λ·H{second}" if head == first else f" (H{first} − λ·H{second})"
    return f"H{head}{pair} · kv {head // size}" if 1 < size < record.q.shape[0] else f"H{head}{pair}"


def group_size(capture: Capture, layer: int) -> int:
    """Number of adjacent heads that share keys and values, including sharing by edits."""
    record = capture.record(layer)
    own = edits_of(capture.request.edits, capture.request.attention)
    left = [edit.kv_heads for edit in own if isinstance(edit, SharedKeys)]
    return record.q.shape[0] // min([record.k.shape[0], *left])
