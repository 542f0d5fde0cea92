"""The silence that a sound is filled up with: where it begins, and how much of a head's weight lies on it."""

from __future__ import annotations

from analysis.head_map import Window
from analysis.joined import first_query, n_looked_at
from model_runner.capture import ROWS, Capture


def n_heard(capture: Capture) -> int | None:
    """How many of the tokens that are looked at are frames of the sound itself; None where there is no silence."""
    frames = capture.tokens[: n_looked_at(capture)]
    count = sum(not token.silent for token in frames)
    return count if count < len(frames) else None


def heard_window(capture: Capture) -> Window | None:
    """The part of a map, in tokens, that is of the sound itself; None where that is all of it."""
    count = n_heard(capture)
    if not count:
        return None
    first = first_query(capture)
    return Window(first, len(capture.tokens) if first else count, 0, count)


def silent_share(capture: Capture, layer: int, head: int) -> float:
    """The mean share, over all tokens that look but frames of silence, of a head's weight on silence.

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
