"""Which head a page opens on when nobody chose one: the one whose last token looks hardest at something of its own."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from attention import softmax
from model_runner.capture import ROWS, Capture


def last_rows(capture: Capture) -> Iterator[tuple[int, Float[Tensor, "heads keys"]]]:
    """The weights of the last query, of every layer that has weights, with its number."""
    n_tokens = len(capture.tokens)
    last, every_key = slice(n_tokens - 1, n_tokens), slice(0, n_tokens)
    for layer in range(capture.n_layers):
        if capture.has_weights(layer):
            record = capture.record(layer)
            heads = slice(0, record.q.shape[0])
            yield (
                layer,
                softmax.weights(record.scores(heads, last, every_key), record.log_sum_exp(heads, last, ROWS))[:, 0],
            )


def opening_head(capture: Capture) -> tuple[int, int]:
    """The head whose last query puts the most weight on one key that is neither special, previous nor itself.

    Those three are where most heads look anyway. Where a text has no other token, every key counts. O(heads × keys).
    """
    n_tokens = len(capture.tokens)
    dull = [token.special or i >= n_tokens - 2 for i, token in enumerate(capture.tokens)]
    if all(dull):
        dull = [False] * n_tokens
    best, place = -1.0, (0, 0)
    for layer, rows in last_rows(capture):
        peaks = rows.masked_fill(torch.tensor(dull, device=rows.device), 0.0).amax(-1)
        if best < 0 or float(peaks.max()) > best:
            best, place = float(peaks.max()), (layer, int(peaks.argmax()))
    return place
