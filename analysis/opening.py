"""Where a page opens when nobody chose a place: a token, and the head in which it looks hardest at one of its own."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.mask_effect import looks_ahead
from attention import softmax
from model_runner.capture import ROWS, Capture


def opening_query(capture: Capture) -> int:
    """The last token, which the next one is made of; in the text of an encoder the first word that it is to guess."""
    last = len(capture.tokens) - 1
    hidden = next((i for i, token in enumerate(capture.tokens) if token.hidden), last)
    return hidden if hidden != last and looks_ahead(capture) else last


def opening_rows(capture: Capture) -> Iterator[tuple[int, Float[Tensor, "heads keys"]]]:
    """The weights of the opening query, of every layer that has weights, with its number."""
    query = opening_query(capture)
    row, every_key = slice(query, query + 1), slice(0, len(capture.tokens))
    for layer in range(capture.n_layers):
        if capture.has_weights(layer):
            record = capture.record(layer)
            heads = slice(0, record.q.shape[0])
            yield (
                layer,
                softmax.weights(record.scores(heads, row, every_key), record.log_sum_exp(heads, row, ROWS))[:, 0],
            )


def opening_head(capture: Capture) -> tuple[int, int]:
    """The head whose opening query puts the most weight on one key that is neither special, beside it nor itself.

    Those are where most heads look anyway. Where a text has no other token, every key counts. O(heads × keys).
    """
    query = opening_query(capture)
    dull = [token.special or abs(i - query) <= 1 for i, token in enumerate(capture.tokens)]
    if all(dull):
        dull = [False] * len(dull)
    best, place = -1.0, (0, 0)
    for layer, rows in opening_rows(capture):
        peaks = rows.masked_fill(torch.tensor(dull, device=rows.device), 0.0).amax(-1)
        if best < 0 or float(peaks.max()) > best:
            best, place = float(peaks.max()), (layer, int(peaks.argmax()))
    return place
