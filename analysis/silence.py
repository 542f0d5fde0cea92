"""The silence with which a sound is padded: its start, and the share of a head's weight on it."""

from __future__ import annotations

from analysis.head_map import Window
from analysis.joined import first_query, n_looked_at
from model_runner.capture import ROWS, Capture


def n_heard(capture: Capture) -> int | None:
    """The number of key tokens that are frames of the sound itself; None if there is no silence."""
    frames = capture.tokens[: n_looked_at(capture)]
    count = sum(not token.silent for token in frames)
    return count if count < len(frames) else None


def heard_window(capture: Capture) -> Window | None:
    """The part of a map, in tokens, that is of the sound itself; None if that is all of it."""
    count = n_heard(capture)
    if not count:
        return None
    first = first_query(capture)
    return Window(first, len(capture.tokens) if first else count, 0, count)


def silent_share(capture: Capture, layer: int, head: int) -> float:
    """The mean share of a head's weight on silence, over all queries that are not silence themselves.

    O(ROWS × keys) memory.
    """
    heard, first = n_heard(capture), first_query(capture)
    if heard is None:
        return 0.0
    last = len(capture.tokens) if first else max(1, heard)
    total = 0.0
    for start in range(first, last, ROWS):
        rows, keys = slice(start, min(start + ROWS, last)), slice(heard, n_looked_at(capture))
        total += float(capture.weights(layer, head, queries=rows, keys=keys, shares=True).double().sum())
    return total / (last - first)
