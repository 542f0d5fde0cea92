"""What stands in the place of a head's softmax, as a map: whether its rows are shares of attention."""

from __future__ import annotations

from model_runner.capture import Capture

N_ = str  # marks a text for Babel without translating it here

NO_SHARES = N_(
    "Weights of the rule that replaces softmax: its rows do not sum to 1. Percentages are "
    "shares, the size of a weight relative to its whole row."
)
CLOSE = 1e-4  # of 1: a row of shares, in float32


def has_shares(capture: Capture, layer: int, head: int) -> bool:
    """Whether no weight is negative and each row that looks sums to 1; of a head that has its softmax always.

    O(tokens²) of a head whose softmax is substituted. Raises NoWeights, NoSuchPlace.
    """
    record = capture.record(layer)
    if record.substitute(head % len(record.q)) is None:
        return True
    weights = record.map_of(head % len(record.q))
    sums = weights.sum(-1)[weights.any(-1)]
    return not bool((weights < 0).any()) and bool(((sums - 1).abs() < CLOSE).all())
