"""The four kinds of transformers, identified and drawn by their attention masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, UInt8
from torch import Tensor

from attention import masks
from attention.patterns import prefix
from model_runner.capture import Capture
from model_runner.tokens import Token

Kind = Literal["causal", "prefix", "encoder", "two"]  # "two": an encoder, and a decoder with cross-attention

MOST = 48  # tokens drawn; for a longer text its first ones, for two texts half as many of each
PROBED = 512  # tokens examined to identify a kind
HIDDEN, BEFORE, AFTER, ACROSS = 0, 1, 2, 3  # a cell: masked, visible at or before the query, after it, cross-attention

Keep = Bool[Tensor, "queries keys"]


@dataclass(frozen=True, eq=False)
class FamilyMask:
    """``cells`` say what each query sees; in a row of two texts, the first ``n_read`` tokens are the source.

    ``cut``: number of tokens of the whole text that are not drawn.
    """

    tokens: tuple[str, ...]
    cells: UInt8[np.ndarray, "queries keys"]
    n_read: int = 0
    cut: int = 0


def kind_of(capture: Capture) -> Kind:
    """Identify the model's kind from its masks, whatever its name.

    A model in which some tokens attend to later ones is an encoder if visibility is symmetric, else a prefix model.
    """
    if capture.attentions:
        return "two"
    keep = _kept(capture, min(len(capture.tokens), PROBED))
    if len(keep) == 1:  # a single token attends to itself in every model
        every = any(record is not None and masks.sees_ahead(record.mask.own) for record in capture.records)
        return "encoder" if every else "causal"
    if not keep.triu(1).any():
        return "causal"
    return "encoder" if torch.equal(keep, keep.T) else "prefix"


def family_mask(capture: Capture) -> FamilyMask:
    """The union of a model's masks over its layers; for an encoder-decoder all three masks in one picture."""
    if capture.attentions:
        parts = {name: capture.attention(name) for name in capture.attentions}
        n_read, n_written = (min(len(parts[name].tokens), MOST // 2) for name in ("encoder", "decoder"))
        read, written = _kept(parts["encoder"], n_read), _kept(parts["decoder"], n_written)
        across = _kept(parts["cross"], n_written, n_read)
        across[:, len(parts["cross"].keys) :] = False  # an encoder's further tokens
        tokens = (*parts["encoder"].tokens[:n_read], *parts["decoder"].tokens[:n_written])
        whole = sum(len(parts[name].tokens) for name in ("encoder", "decoder"))
        return FamilyMask(_labels(tokens), _two_texts(read, written, across), n_read, whole - len(tokens))
    n_tokens = min(len(capture.tokens), MOST)
    cells = _cells(_kept(capture, n_tokens))
    return FamilyMask(_labels(capture.tokens[:n_tokens]), cells, cut=len(capture.tokens) - n_tokens)


def ruled_mask(kind: Kind, tokens: Sequence[Token], length: int) -> FamilyMask:
    """The mask by the rule of a kind, if none of its models is available; ``length`` of a prefix or the source.

    The tokens are those of another model; for two texts the first ones stand for the source.
    """
    shown = tokens[:MOST]
    n_tokens, n_read = len(shown), min(length, len(shown))
    whole = slice(0, n_tokens)
    cut = len(tokens) - n_tokens
    if kind == "two":
        n_written = n_tokens - n_read
        causal = masks.tile(masks.Causal(), slice(0, n_written), slice(0, n_written))
        every = torch.ones(n_read, n_read, dtype=torch.bool), torch.ones(n_written, n_read, dtype=torch.bool)
        return FamilyMask(_labels(shown), _two_texts(every[0], causal, every[1]), n_read, cut)
    rules: dict[str, masks.Rule] = {"causal": masks.Causal(), "encoder": masks.Full(), "prefix": prefix(length)}
    return FamilyMask(_labels(shown), _cells(masks.tile(rules[kind], whole, whole)), cut=cut)


def _kept(capture: Capture, n_queries: int, n_keys: int | None = None) -> Keep:
    """True where the first queries attend to the first keys in at least one layer."""
    span = slice(0, n_queries), slice(0, n_queries if n_keys is None else n_keys)
    keep = torch.zeros(span[0].stop, span[1].stop, dtype=torch.bool)
    for record in capture.records:
        if record is not None:
            keep |= record.mask.tile(*span, record.q.device).cpu()
    return keep


def _cells(keep: Keep) -> UInt8[np.ndarray, "queries keys"]:
    later = torch.ones_like(keep).triu(1)
    cells = torch.where(later, AFTER, BEFORE) * keep
    return cells.to(torch.uint8).numpy()


def _two_texts(
    read: Bool[Tensor, "read read"], written: Bool[Tensor, "written written"], across: Bool[Tensor, "written read"]
) -> UInt8[np.ndarray, "tokens tokens"]:
    """The source above the target; no source token attends to the target."""
    above = np.concatenate([_cells(read), np.full((len(read), len(written)), HIDDEN, np.uint8)], axis=1)
    below = np.concatenate([across.numpy().astype(np.uint8) * np.uint8(ACROSS), _cells(written)], axis=1)
    return np.concatenate([above, below])


def _labels(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.text for token in tokens)
