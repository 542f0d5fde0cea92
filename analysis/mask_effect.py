"""The effect of a mask applied to a model: attention cut, perplexity, and queries without keys."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float

from attention.patterns import Pattern
from model_runner.capture import ROWS, Capture
from model_runner.edits import Masked
from model_runner.errors import CapturesDiffer

Cell = tuple[int, int]


def cut_mass(before: Capture, after: Capture) -> Float[np.ndarray, "layers heads"]:
    """The share of each head's attention on cells masked afterwards, averaged over queries, in 0..1.

    NaN for layers without weights. O(heads × ROWS × keys) memory. Raises CapturesDiffer for different tokens.
    """
    if [token.id for token in before.tokens] != [token.id for token in after.tokens]:
        raise CapturesDiffer()
    n_tokens = len(before.tokens)
    cut = np.full((before.n_layers, before.n_heads), np.nan, np.float32)
    for layer in range(before.n_layers):
        if not before.has_weights(layer):
            continue
        record = after.record(layer)
        heads = slice(0, record.q.shape[0])
        mass = torch.zeros(heads.stop, dtype=torch.float64)
        for start in range(0, n_tokens, ROWS):
            block = slice(start, min(start + ROWS, n_tokens))
            keep = record.mask.tiles(heads, block, slice(0, n_tokens), record.q.device)
            mass += (before.layer_weights(layer, block, shares=True) * ~keep).sum(dim=(1, 2)).double().cpu()
        cut[layer, : heads.stop] = (mass / n_tokens).numpy()
    return cut


def perplexity(capture: Capture, first: int = 1) -> float:
    """e to the mean surprisal of the tokens from position ``first`` on; NaN if there are none. Raises NoLogits."""
    surprisals = capture.surprisals()[first - 1 :]
    return math.exp(float(surprisals.double().mean())) if len(surprisals) else math.nan


def looks_ahead(capture: Capture) -> bool:
    """True if some query attends to a later key, as in an encoder: it then knows the token to predict."""
    n_tokens = len(capture.tokens)
    return n_tokens > 1 and any(record.mask.sees_ahead(n_tokens) for record in capture.records if record is not None)


def left_with_nothing(
    capture: Capture, pattern: Pattern, values: Mapping[str, int], cells: Collection[Cell]
) -> tuple[int, ...]:
    """Queries that would have no key in some layer if these cells were masked in addition to the pattern.

    ``capture`` is that of the unedited model. Only queries whose own cell is masked are affected, as patterns keep it.
    """
    hidden = set(cells)
    found: list[int] = []
    n_tokens, masked = len(capture.tokens), Masked(pattern.name, tuple(values.items()))
    for query in sorted(query for query, key in hidden if query == key and query < n_tokens):
        row, every_key = slice(query, query + 1), slice(0, n_tokens)
        shown = torch.ones(n_tokens, dtype=torch.bool)
        shown[[key for one, key in hidden if one == query and key < n_tokens]] = False
        for record in capture.records:
            if record is None:
                continue
            rule = replace(record.mask, edits=(*record.mask.edits, masked))
            if not (rule.tile(row, every_key, record.q.device)[0].cpu() & shown).any():
                found.append(query)
                break
    return tuple(found)
