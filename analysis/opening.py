"""Where a page opens when nobody chose a place: a token, and the head in which it looks hardest at one of its own."""

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

# The strongest look: at a token of its own, at any, all along a text, or along its keys that stand for several tokens.
Rule = Literal["far", "any", "in_turn", "blocks"]


def opening_query(capture: Capture) -> int:
    """The last token, which the next one is made of; in the text of an encoder the first word that it is to guess.
    Of a sound its last frame, before the silence that it is filled up with.

    Of what was written looking at another text, the token whose heads agree most on one word of that text.
    """
    last = max(i for i, token in enumerate(capture.tokens) if not token.silent)
    if isinstance(capture, Joined) and capture.request.attention != COMPRESSED:
        return capture.n_read + int(_looks(capture).mean(dim=0).amax(dim=1).argmax())
    hidden = next((i for i, token in enumerate(capture.tokens) if token.hidden), last)
    return hidden if hidden != last and looks_ahead(capture) else last


def _looks(capture: Joined) -> Float[Tensor, "heads queries keys"]:
    """The weights of what was written on what was read, special tokens and silence left out, of all heads in order."""
    special = torch.tensor([token.special or token.silent for token in capture.tokens[: capture.n_read]])
    queries, keys = slice(capture.n_read, len(capture.tokens)), slice(0, capture.n_read)
    every = torch.zeros(capture.n_layers, capture.n_heads, queries.stop - queries.start, capture.n_read)
    for layer in filter(capture.has_weights, range(capture.n_layers)):
        every[layer] = capture.layer_weights(layer, queries, shares=True)[..., keys]
    return every.flatten(0, 1).masked_fill(special & ~special.all(), 0.0)


def opening_rows(capture: Capture) -> Iterator[tuple[int, Float[Tensor, "heads keys"]]]:
    """The weights of the opening query, of every layer that has weights, with its number."""
    query = opening_query(capture)
    row, every_key = slice(query, query + 1), slice(0, len(capture.tokens))
    for layer in range(capture.n_layers):
        if capture.has_weights(layer):
            record = capture.record(layer)
            heads = slice(0, record.q.shape[0])
            yield layer, record.weights(heads, row, every_key, ROWS, shares=True)[:, 0]


def _dull(capture: Capture) -> list[bool]:
    """Of each token whether a look at it says nothing of a head: those where most heads look anyway."""
    query = opening_query(capture)
    return [token.special or token.silent or abs(i - query) <= 1 for i, token in enumerate(capture.tokens)]


def opening_rule(capture: Capture) -> Rule:
    """By which rule ``opening_head`` chooses in this text."""
    if isinstance(capture, Joined):
        return "blocks" if capture.request.attention == COMPRESSED else "in_turn"
    return "any" if all(_dull(capture)) else "far"


def opening_head(capture: Capture, layer: int | None = None, head: int | None = None) -> tuple[int, int]:
    """The head whose opening query puts the most weight on one key that is neither special, beside it nor itself.

    Those are where most heads look anyway. Where a text has no other token, every key counts. O(heads × keys).

    Of what was written looking at another text, the head in which most of that text is once looked at hard: the one
    that goes from word to word. O(cells).

    ``layer`` and ``head`` are chosen already, where they are given. Raises NoSuchPlace.

    Of a capture elsewhere it is found where the tensors are: two numbers are sent, not every query and key.
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
    """Of every layer that has weights, by its number: how strongly each of its heads looks, as the opening counts."""
    if isinstance(capture, Joined):
        looks = _looks(capture).amax(dim=1).mean(dim=1).unflatten(0, (-1, capture.n_heads))
        yield from enumerate(looks.tolist())
        return
    dull = _dull(capture)
    if all(dull):
        dull = [False] * len(dull)
    for layer, rows in opening_rows(capture):
        yield layer, rows.masked_fill(torch.tensor(dull, device=rows.device), 0.0).amax(-1).tolist()
