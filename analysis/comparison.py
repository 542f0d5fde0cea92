"""Two captures of one text, before and after an edit: the change of the next token and of each head."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from analysis.joined import decoder_side, first_query
from analysis.mask_effect import looks_ahead
from analysis.next_token import end_of_text
from analysis.units import character_units
from attention.distributions import kl
from model_runner.capture import ROWS, Capture
from model_runner.errors import CapturesDiffer


@dataclass(frozen=True)
class NextTokenChange:
    """Probabilities of the same token ids before and after, including the likeliest of both.

    ``kl`` is KL(before ‖ after) over the whole vocabulary, in bits. ``position`` is the one at which an encoder
    predicts; None for the next token. ``follows`` is the end of the preceding text, and whether that is all of it
    (:func:`end_of_text`).
    """

    ids: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    kl: float
    position: int | None = None
    follows: tuple[str, bool] = ("", True)


def next_token_change(before: Capture, after: Capture, position: int = -1, *, count: int = 5) -> NextTokenChange:
    """In float64. Tokens by decreasing probability before, then those that are only afterwards among the top ``count``.

    Raises CapturesDiffer for different tokens, NoLogits.
    """
    _same_tokens(before, after)
    old, new = (
        torch.log_softmax(decoder_side(capture).logits(position).double(), dim=-1) for capture in (before, after)
    )
    first, second = (logs.topk(min(count, len(logs))).indices.tolist() for logs in (old, new))
    ids = [*first, *(token for token in second if token not in first)]
    return NextTokenChange(
        tuple(ids), tuple(old[ids].exp().tolist()), tuple(new[ids].exp().tolist()), float(kl(old, new))
    )


def output_position(capture: Capture, query: int | None) -> int | None:
    """The position of an encoder's prediction: ``query``, or else the first token. None: the next token."""
    return (query or 0) if looks_ahead(capture) else None


def output_change(before: Capture, after: Capture, position: int | None) -> NextTokenChange:
    """For an encoder's position, or None for the next token. Raises as :func:`next_token_change`."""
    change = next_token_change(before, after, -1 if position is None else position)
    return replace(change, position=position)


def change_at(before: Capture, after: Capture, query: int | None) -> NextTokenChange:
    """For an encoder's ``query``, or the next token; in an encoder-decoder model after the target's ``query``."""
    place = None if before.attentions else output_position(before, query)
    if place is not None:
        return output_change(before, after, place)
    text = decoder_side(before)
    last = len(text.tokens) - 1
    if before.attentions and query is not None and before.request.attention != "encoder":
        last = query - first_query(before)
    return replace(next_token_change(before, after, last), follows=end_of_text(character_units(text), last + 1))


def head_drift(before: Capture, after: Capture) -> Float[np.ndarray, "layers heads"]:
    """How far each head's attention moved: half the sum of |weight − weight|, averaged over queries, in 0..1.

    The total variation distance of the rows, where the difference of a row's sum to 1 counts as a further entry, so
    that a query left without keys has moved completely. NaN for layers without weights. O(heads × ROWS × keys) memory.
    Raises CapturesDiffer for different tokens.
    """
    _same_tokens(before, after)
    drift = np.full((before.n_layers, before.n_heads), np.nan, np.float32)
    n_tokens, first = len(before.tokens), first_query(before)
    for layer in range(before.n_layers):
        if not before.has_weights(layer):
            continue
        moved = torch.zeros(before.q(layer).shape[0], dtype=torch.float64)
        for start in range(first, n_tokens, ROWS):
            block = slice(start, min(start + ROWS, n_tokens))
            moved += _moved(*(one.layer_weights(layer, block, shares=True) for one in (before, after)))
        drift[layer, : len(moved)] = (moved / (n_tokens - first)).numpy()
    return drift


def drift_of_head(before: Capture, after: Capture, layer: int, head: int) -> float:
    """Like :func:`head_drift`, for a single head: with substituted softmax, the maps of all heads take long."""
    _same_tokens(before, after)
    n_tokens, first = len(before.tokens), first_query(before)
    moved = 0.0
    for start in range(first, n_tokens, ROWS):
        block = slice(start, min(start + ROWS, n_tokens))
        moved += float(_moved(*(one.weights(layer, head, queries=block, shares=True) for one in (before, after))))
    return moved / (n_tokens - first)


def _moved(
    before: Float[torch.Tensor, "*heads queries keys"], after: Float[torch.Tensor, "*heads queries keys"]
) -> Float[torch.Tensor, "*heads"]:
    """Half the difference of their rows, including that of their sums to 1, summed over the queries."""
    difference = before - after
    elsewhere = difference.abs().sum(dim=-1) + difference.sum(dim=-1).abs()
    return elsewhere.sum(dim=-1).double().cpu() / 2


def _same_tokens(before: Capture, after: Capture) -> None:
    if [token.id for token in before.tokens] != [token.id for token in after.tokens]:
        raise CapturesDiffer()
