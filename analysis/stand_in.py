"""Maps that are not softmax, a variant's or a recurrence's: whether their rows are shares, and their description."""

from __future__ import annotations

from model_runner.capture import Capture

N_ = str  # marks a text for Babel without translating it here

NO_SHARES = N_(
    "Weights of the rule that replaces softmax: its rows do not sum to 1. Percentages are "
    "shares, the size of a weight relative to its whole row."
)
SIGNED = N_(
    "Not softmax: signed, and rows do not sum to 1. Percentages are shares, the size of an entry relative to "
    "its whole row."
)
WEIGHTED_MEAN = N_("Not softmax of queries and keys, but a weighted mean of its own, whose rows sum to 1.")
OVER_CHANNELS = N_("The map is the mean of the matrices of its channels, which differ.")
CLOSE = 1e-4  # to 1, for a row of shares in float32


def row_notes(capture: Capture, layer: int, *, shares: bool) -> list[str]:
    """What the weights of the layer's heads are if not those of softmax, a sentence each.

    ``shares``: the result of :func:`has_shares`. Raises NoWeights, NoSuchPlace.
    """
    own = capture.record(layer).unrolled
    if own is None:
        return [] if shares else [NO_SHARES]
    return [SIGNED if own.signed else WEIGHTED_MEAN, *([OVER_CHANNELS] if own.channels > 1 else [])]


def has_shares(capture: Capture, layer: int, head: int) -> bool:
    """True if no weight is negative and each non-empty row sums to 1; always for a head with its softmax.

    O(tokens²) for a head with substituted softmax. Raises NoWeights, NoSuchPlace.
    """
    record = capture.record(layer)
    if record.unrolled is not None:
        return not record.unrolled.signed
    if record.substitute(head % len(record.q)) is None:
        return True
    weights = record.map_of(head % len(record.q))
    sums = weights.sum(-1)[weights.any(-1)]
    return not bool((weights < 0).any()) and bool(((sums - 1).abs() < CLOSE).all())
