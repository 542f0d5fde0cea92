"""Captures with known weights, captures of a text without a model, and the embedded model."""

from __future__ import annotations

import functools
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from model_runner import Capture, CaptureRequest, Token, load_runner
from model_runner.local.runner import LocalRunner
from model_runner.local.tokenizing import encode, tokens_of
from model_runner.mask_rule import CAUSAL, MaskRule
from model_runner.question import Logits
from model_runner.record import LayerRecord

D_VALUE = 4
UNSEEN = -1e4  # a score whose exponential is 0


def made_capture(
    weights: Tensor,
    *,
    ids: list[int] | None = None,
    special: Collection[int] = (),
    hidden: Collection[int] = (),
    text: str | None = None,
    spans: list[tuple[int, int]] | None = None,
    mask: MaskRule = CAUSAL,
    without: Collection[int] = (),
    logits: Tensor | None = None,
) -> Capture:
    """A capture with these weights (layers, heads, queries, keys), whose rows sum to 1.

    Queries are the logarithms of the weights and keys the unit vectors, so that q·k is the logarithm of the weight and
    the softmax gives the weight back. Layers in ``without`` have no attention. Values are noise, one head for all.
    """
    n_layers, _, n_tokens, _ = weights.shape
    ids = list(range(n_tokens)) if ids is None else ids
    spans = [(i, i + 1) for i in range(n_tokens)] if spans is None else spans
    records = [None if layer in without else _record(weights[layer], mask) for layer in range(n_layers)]

    return Capture(
        request=CaptureRequest(text="x" * n_tokens if text is None else text),
        tokens=tuple(Token(ids[i], f"t{i}", *spans[i], i in special, i in hidden) for i in range(n_tokens)),
        kinds=tuple("linear" if record is None else "full" for record in records),
        records=tuple(records),
        residuals=tuple(torch.zeros(n_tokens, 2) for _ in range(n_layers + 1)),
        hidden=torch.zeros(n_tokens, 2),
        asked=OutputLayer(torch.zeros(8) if logits is None else logits),
    )


def text_capture(text: str, tokenizer: PreTrainedTokenizerBase) -> Capture:
    """The tokens of a text and nothing else: no layer."""
    nothing = torch.zeros(0, 1)
    return Capture(
        request=CaptureRequest(text=text),
        tokens=tokens_of(tokenizer, encode(tokenizer, text)),
        kinds=(),
        records=(),
        residuals=(nothing,),
        hidden=nothing,
    )


def causal_noise(n_tokens: int, *, layers: int = 1, heads: int = 1, seed: int = 0) -> Tensor:
    """Random causal weights (layers, heads, queries, keys) in float64, rows summing to 1."""
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(layers, heads, n_tokens, n_tokens, generator=generator, dtype=torch.float64)
    return torch.softmax(scores.masked_fill(torch.ones(n_tokens, n_tokens).triu(1).bool(), -torch.inf), -1)


@functools.cache
def embedded() -> LocalRunner:
    """The embedded model, loaded once for all tests that look at it."""
    return load_runner("default", device="cpu")


def as_float64(weights: Tensor) -> np.ndarray:
    return weights.detach().double().cpu().numpy()


def _record(weights: Tensor, mask: MaskRule) -> LayerRecord:
    n_heads, n_tokens, _ = weights.shape
    generator = torch.Generator().manual_seed(5)
    return LayerRecord(
        q=torch.where(weights > 0, weights.log(), UNSEEN),
        k=torch.eye(n_tokens, dtype=weights.dtype)[None],
        v=torch.randn(1, n_tokens, D_VALUE, generator=generator, dtype=weights.dtype),
        output=torch.zeros(n_tokens, n_heads, D_VALUE, dtype=weights.dtype),
        scale=1.0,
        softcap=None,
        sinks=None,
        mask=mask,
        window=None,
        rotation=None,
        eager=False,
    )


class OutputLayer:
    """Answers with the same logits at every position."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits

    def submit(self, question: Any, *, session: str | None = None) -> Any:
        assert isinstance(question, Logits), "these tests ask for nothing else"
        return SimpleNamespace(result=lambda: self.logits.expand(len(question.hidden), -1))
