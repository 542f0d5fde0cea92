"""Where a page opens by default: a token, and the head with the strongest weight on an informative key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.joined import Joined
from analysis.made_there import far_maker
from analysis.mask_effect import looks_ahead
from model_runner.capture import COMPRESSED, ROWS, Capture, index

# The strongest weight: on an informative token, on any, along a whole text, or along keys that stand for several
# tokens.
Rule = Literal["far", "any", "in_turn", "blocks"]


def opening_query(capture: Capture) -> int:
    """The last token, which predicts the next one; in an encoder the first masked word; for audio the last frame before
    the silence.

    In cross-attention, the target token whose heads agree most on one source word.
    """
    last = max(i for i, token in enumerate(capture.tokens) if not token.silent)
    if isinstance(capture, Joined) and capture.request.attention != COMPRESSED:
        return capture.n_read + int(_looks(capture).mean(dim=0).amax(dim=1).argmax())
    hidden = next((i for i, token in enumerate(capture.tokens) if token.hidden), last)
    return hidden if hidden != last and looks_ahead(capture) else last


def _looks(capture: Joined) -> Float[Tensor, "heads queries keys"]:
    """All heads' cross-attention weights in order, without special tokens and silence."""
    special = torch.tensor([token.special or token.silent for token in capture.tokens[: capture.n_read]])
    queries, keys = slice(capture.n_read, len(capture.tokens)), slice(0, capture.n_read)
    every = torch.zeros(capture.n_layers, capture.n_heads, queries.stop - queries.start, capture.n_read)
    for layer in filter(capture.has_weights, range(capture.n_layers)):
        every[layer] = capture.layer_weights(layer, queries, shares=True)[..., keys]
    return every.flatten(0, 1).masked_fill(special & ~special.all(), 0.0)


def opening_rows(capture: Capture) -> Iterator[tuple[int, Float[Tensor, "heads keys"]]]:
    """The opening query's weights in every layer that has weights, with its number."""
    query = opening_query(capture)
    row, every_key = slice(query, query + 1), slice(0, len(capture.tokens))
    for layer in range(capture.n_layers):
        if capture.has_weights(layer):
            record = capture.record(layer)
            heads = slice(0, record.q.shape[0])
            yield layer, record.weights(heads, row, every_key, ROWS, shares=True)[:, 0]


def _dull(capture: Capture) -> list[bool]:
    """For each token whether weight on it is uninformative, since most heads have some there."""
    query = opening_query(capture)
    return [token.special or token.silent or abs(i - query) <= 1 for i, token in enumerate(capture.tokens)]


def opening_rule(capture: Capture) -> Rule:
    """The rule by which ``opening_head`` chooses for this text."""
    if isinstance(capture, Joined):
        return "blocks" if capture.request.attention == COMPRESSED else "in_turn"
    return "any" if all(_dull(capture)) else "far"


def opening_head(capture: Capture, layer: int | None = None, head: int | None = None) -> tuple[int, int]:
    """The head whose opening query has the most weight on a single informative key.

    Special tokens, the adjacent token and the query itself do not count, as most heads attend there; if there are no
    others, every key counts. O(heads × keys). In cross-attention, the head that attends strongly to most of the source
    at some time: the one that goes from word to word. O(cells). ``layer`` and ``head``, if given, are fixed. Raises
    NoSuchPlace. For a remote capture it is computed where the tensors are: two numbers are transferred instead of all
    queries and keys.
    """
    maker = far_maker(capture) if layer is None and head is None else None
    if maker is not None:
        return maker.opening(capture.request)
    layers = range(capture.n_layers) if layer is None else [index("layer", layer, capture.n_layers)]
    best, place = -1.0, (layers[0], 0 if head is None else index("head", head, capture.n_heads))
    for one, strengths in _strengths(capture):
        if one in layers and (head is None or -len(strengths) <= head < len(strengths)):
            chosen = int(np.argmax(strengths)) if head is None else head % len(strengths)
            if strengths[chosen] > best:
                best, place = strengths[chosen], (one, chosen)
    return place


def _strengths(capture: Capture) -> Iterator[tuple[int, list[float]]]:
    """For every layer that has weights, by number: each head's strength by the opening rule."""
    if isinstance(capture, Joined):
        looks = _looks(capture).amax(dim=1).mean(dim=1).unflatten(0, (-1, capture.n_heads))
        yield from enumerate(looks.tolist())
        return
    dull = _dull(capture)
    if all(dull):
        dull = [False] * len(dull)
    for layer, rows in opening_rows(capture):
        yield layer, rows.masked_fill(torch.tensor(dull, device=rows.device), 0.0).amax(-1).tolist()
