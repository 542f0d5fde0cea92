"""Attention weights from elsewhere as a capture, which can be drawn and measured like ours but has no model.

A record keeps q, k and v, so queries are the logarithms of the weights and keys are unit vectors: q·k is the logarithm
of the weight, and the softmax restores the weight. What a row lacks to 1 (because of a learned sink) is given to a
sink. Values and outputs are unknown and set to 0: such a capture cannot be verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from model_runner.capture import Capture
from model_runner.mask_rule import CAUSAL, FULL, MaskRule
from model_runner.record import LayerRecord
from model_runner.request import CaptureRequest
from model_runner.tokens import VISIBLE, Token

Given: TypeAlias = "Tensor | np.ndarray | Sequence[Tensor | np.ndarray]"

SHAPES = "[queries, keys], [heads, queries, keys], [layers, heads, queries, keys], or a list of the layers"
ABOVE = {torch.bfloat16: 2e-2, torch.float16: 2e-3}  # by how much the sum of a row of rounded numbers may exceed 1
DROPOUT = "Of a model in training mode dropout scales them: call model.eval() before the forward."
UNSEEN = -1e4  # a score whose exponential is 0


def given_capture(weights: Given, tokens: Sequence[str] | None = None, keys: Sequence[str] | None = None) -> Capture:
    """Make a capture of these weights; ``tokens`` label the rows, ``keys`` the columns if they differ.

    ``weights`` has one of ``SHAPES``, and each layer may have a batch of one. Without labels tokens are numbered. If no
    row attends to later keys, these are masked. O(weights) memory. Raises ValueError with a sentence for another shape,
    a batch, labels that do not fit, or invalid weights.
    """
    layers = [_layer(one, number) for number, one in enumerate(_layers(weights))]
    n_queries, n_keys = layers[0].shape[1:]
    if any(one.shape[1:] != layers[0].shape[1:] for one in layers):
        raise ValueError("The layers are of different texts: their queries and keys differ in number.")
    words, of_keys = _words(tokens, n_queries, "rows"), _words(keys, n_keys, "columns")
    if n_queries != n_keys and (tokens is None or keys is None):
        raise ValueError(f"{n_queries} rows look at {n_keys} columns: give tokens for the rows, keys for the columns.")
    across = keys is not None
    mask = FULL if across or any(bool(one.triu(1).any()) for one in layers) else CAUSAL
    read = Capture(
        request=CaptureRequest(text="".join(of_keys), attention="encoder"),
        tokens=_tokens(of_keys),
        kinds=(),
        records=(),
        residuals=(torch.zeros(n_keys, 1),),
        hidden=torch.zeros(n_keys, 1),
    )
    return Capture(
        request=CaptureRequest(text="".join(words), attention="cross" if across else None),
        tokens=_tokens(words),
        kinds=("full",) * len(layers),
        records=tuple(_record(one, mask) for one in layers),
        residuals=(torch.zeros(n_queries, 1),) * (len(layers) + 1),
        hidden=torch.zeros(n_queries, 1),
        source=read.tokens if across else None,
        others=(read,) if across else (),
    )


def _layers(weights: Given) -> list[Tensor]:
    """Each layer's tensor, for any of the shapes."""
    if isinstance(weights, Tensor | np.ndarray):
        whole = torch.as_tensor(weights)
        return list(whole) if whole.dim() == 4 else [whole]
    try:
        layers = [torch.as_tensor(one) for one in weights]
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"A {type(weights).__name__} cannot be drawn; give a capture, or weights: {SHAPES}.") from None
    if not layers:
        raise ValueError("There are no weights: the list of layers is empty.")
    return layers


def _layer(weights: Tensor, number: int) -> Tensor:
    """[heads, queries, keys] in float32, checked to be weights."""
    if weights.dim() == 4 and len(weights) != 1:
        raise ValueError(f"Layer {number} has a batch of {len(weights)} texts: give one of them, such as weights[0].")
    shaped = weights[0] if weights.dim() == 4 else weights[None] if weights.dim() == 2 else weights
    if shaped.dim() != 3 or not shaped.numel():
        raise ValueError(f"Weights of shape {tuple(weights.shape)} cannot be drawn; give {SHAPES}.")
    found, above = shaped.detach().float().cpu(), ABOVE.get(shaped.dtype, 1e-4)
    sums = found.sum(-1)
    wrong = (~found.isfinite()).any(-1) | (found < 0).any(-1) | (sums > 1 + above)
    if bool(wrong.any()):
        head, query = divmod(
            int((sums - 1).abs().nan_to_num(torch.inf).masked_fill(~wrong, -1).argmax()), len(wrong[0])
        )
        row = f"row {query} of head {head} of layer {number} sums to {float(sums[head, query]):.3g}"
        why = "" if bool((found < 0).any()) else f" {DROPOUT}"
        raise ValueError(f"These are no attention weights, whose rows sum to 1 and have no number below 0: {row}.{why}")
    return found


def _words(words: Sequence[str] | None, count: int, what: str) -> list[str]:
    if words is None:
        return [str(place) for place in range(count)]
    if len(words) != count:
        raise ValueError(f"{len(words)} words for {count} {what}: each has one.")
    return [str(word) for word in words]


def _tokens(words: Sequence[str]) -> tuple[Token, ...]:
    """Equal labels are the same token; a leading space, or a word piece's mark for it, is shown as a dot."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    found: list[Token] = []
    start = 0
    for word in words:
        shown = "".join(VISIBLE.get(one, one) for one in word.replace("Ġ", " ").replace("▁", " "))
        found.append(Token(numbers[word], shown, start, start + len(word)))
        start += len(word)
    return tuple(found)


def _record(weights: Tensor, mask: MaskRule) -> LayerRecord:
    heads, queries, keys = weights.shape
    rest = 1 - weights.sum(-1)
    missing = torch.where(rest > 1e-6, rest.clamp_min(1e-12).log(), UNSEEN)
    return LayerRecord(
        q=torch.where(weights > 0, weights.log(), UNSEEN),
        k=torch.eye(keys)[None],
        v=torch.zeros(1, keys, 1),
        output=torch.zeros(queries, heads, 1),
        scale=1.0,
        softcap=None,
        sinks=missing if bool((rest > 1e-6).any()) else None,
        mask=mask,
        window=None,
        rotation=None,
        eager=False,
    )
