"""Two captures of one text, before and after a change: what became of the next token and of each head."""

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
    """Probabilities of the same token ids before and after; the likeliest of either are among them.

    ``kl`` is KL(before ‖ after) over the whole vocabulary, in bits. ``position`` is that of the token which an encoder
    reads there; None where they are the next token. ``follows`` is the end of the text that it follows, and whether
    that is all of it (:func:`end_of_text`).
    """

    ids: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    kl: float
    position: int | None = None
    follows: tuple[str, bool] = ("", True)


def next_token_change(before: Capture, after: Capture, position: int = -1, *, count: int = 5) -> NextTokenChange:
    """In float64. Tokens by falling probability before; then those that only afterwards are among the ``count`` first.

    Raises CapturesDiffer for captures of other tokens, NoLogits.
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
    """Where an encoder's output is looked at: ``query``, or else the first token. None: it is the next token."""
    return (query or 0) if looks_ahead(capture) else None


def output_change(before: Capture, after: Capture, position: int | None) -> NextTokenChange:
    """Of the token at a place of an encoder, None: of the next token. Raises as :func:`next_token_change`."""
    change = next_token_change(before, after, -1 if position is None else position)
    return replace(change, position=position)


def change_at(before: Capture, after: Capture, query: int | None) -> NextTokenChange:
    """Of the token at an encoder's ``query``, or of the next token: of an encoder–decoder after a written ``query``."""
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

    The total variation distance of the rows, where what a row lacks of 1 counts as one more place: a query that is left
    with nothing has moved all it had. NaN for layers without weights. O(heads × ROWS × keys) memory. Raises
    CapturesDiffer for captures of other tokens.
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
    """As :func:`head_drift`, of one head alone: where softmax is substituted, the maps of all heads take long."""
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
    """Half of what their rows differ by, what a row lacks of 1 included, summed over the queries."""
    difference = before - after
    elsewhere = difference.abs().sum(dim=-1) + difference.sum(dim=-1).abs()
    return elsewhere.sum(dim=-1).double().cpu() / 2


def _same_tokens(before: Capture, after: Capture) -> None:
    if [token.id for token in before.tokens] != [token.id for token in after.tokens]:
        raise CapturesDiffer()
