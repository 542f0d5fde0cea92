"""Names of heads in lists to choose from: with the key/value head that several of them share."""

from __future__ import annotations

from model_runner import Capture


def head_name(capture: Capture, layer: int, head: int) -> str:
    """H5, or "H5 · kv 2" where key/value head 2 is shared by a group of heads; the heads of a group have equal ends."""
    record = capture.record(layer)
    shared = 1 < record.k.shape[0] < record.q.shape[0]
    return f"H{head} · kv {head // record.group}" if shared else f"H{head}"
