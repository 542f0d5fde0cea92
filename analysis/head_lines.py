"""One or two heads' weights between nearby tokens, for a drawing of lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from analysis.first_hidden import weights_without_first
from analysis.joined import first_query
from model_runner.capture import Capture

LONGEST = 64  # tokens; for a longer text those around one of them


@dataclass(frozen=True, eq=False)
class HeadLines:
    """Queries from position ``start`` on and keys from ``key_start`` on. NaN at a hidden first token."""

    weights: Float[np.ndarray, "heads queries keys"]
    labels: tuple[str, ...]
    key_labels: tuple[str, ...]
    start: int
    key_start: int
    centre: int  # the token at the centre
    elsewhere: float  # the first head's weight from it on tokens that are not listed
    elsewhere_most: int  # the one of those with the largest weight

    def holds(self, token: int | None) -> bool:
        """True if the token at this position is drawn as a query."""
        return token is not None and 0 <= token - self.start < len(self.labels)

    def holds_key(self, token: int | None) -> bool:
        """True if it is drawn as a key."""
        return token is not None and 0 <= token - self.key_start < len(self.key_labels)

    def looks_most_at(self, key: int) -> int:
        """The position of the query with the first head's largest weight on this key."""
        column = self.weights[0, :, key - self.key_start]
        return self.start + int(np.nan_to_num(column, nan=-1.0).argmax())


def head_lines(
    capture: Capture, heads: Sequence[tuple[int, int]], query: int | None = None, *, hide_first: bool = False
) -> HeadLines:
    """``heads`` are (layer, head); of a long text the tokens around ``query``, mostly before it, or its end.

    For two combined texts, queries are of the second and keys are the first tokens of the first. ``hide_first`` as in a
    map's HeadQuantity. Raises NoWeights, NoSuchPlace. O(LONGEST × tokens).
    """
    n_tokens, first = len(capture.tokens), first_query(capture)
    centre = n_tokens - 1 if query is None else query
    start = max(first, min(centre - LONGEST * 3 // 4, n_tokens - LONGEST))
    span = slice(start, min(n_tokens, start + LONGEST))
    keys = slice(0, min(first, LONGEST)) if first else span
    read = weights_without_first if hide_first else partial(Capture.weights, shares=True)
    weights = np.stack([read(capture, *head, queries=span, keys=keys).cpu().numpy() for head in heads])
    if hide_first and keys.start == 0:
        weights[:, :, 0] = np.nan
    labels, key_labels = (tuple(token.text for token in capture.tokens[part]) for part in (span, keys))
    row = read(capture, *heads[0], queries=slice(centre, centre + 1), keys=slice(0, first or n_tokens))[0]
    row = np.nan_to_num(row.double().cpu().numpy())
    row[keys] = 0.0
    return HeadLines(
        weights.astype(np.float32), labels, key_labels, start, keys.start, centre, float(row.sum()), int(row.argmax())
    )
