"""More query heads sharing keys and values than in the model: the possible numbers, and the effect.

Mean pooling of adjacent key/value heads (``SharedKeys``; Ainslie et al. 2023, arXiv:2305.13245), without the training
that follows in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from analysis.kv_bytes import cache_bytes
from model_runner import Capture
from model_runner.errors import CapturesDiffer
from model_runner.kv import CachedLayer
from model_runner.record import LayerRecord


def shared_counts(capture: Capture) -> tuple[int, ...]:
    """The numbers of key/value heads to which every layer's can be averaged evenly, decreasing to 1.

    If all layers have the same number, that is the first one and changes nothing.
    """
    most = math.gcd(*(record.k.shape[0] for record in _records(capture)))
    return tuple(count for count in range(most, 0, -1) if most % count == 0)


def pooled_bytes(capture: Capture, layers: Sequence[CachedLayer], kv_heads: int) -> int:
    """The size of this text's cache with this many key/value heads in every layer.

    For a model whose cache holds a latent instead of keys and values (MLA), the keys and values made from it are
    counted: sharing these is not what the latent does.
    """
    latent = cache_bytes(capture, layers).latent is not None
    total = 0
    for record, layer in zip(capture.records, layers, strict=True):
        if record is not None:
            held = record.k.nbytes + record.v.nbytes if latent else layer.n_bytes
            total += held * kv_heads // record.k.shape[0]
    return total


def output_drift(before: Capture, after: Capture) -> Float[np.ndarray, "layers heads"]:
    """How far each head's output moved, ‖after − before‖ / ‖before‖ over all tokens; 0 is not at all, 1 its norm.

    NaN for layers without softmax attention, and if the output was zero before. Raises CapturesDiffer for different
    tokens.
    """
    if [token.id for token in before.tokens] != [token.id for token in after.tokens]:
        raise CapturesDiffer()
    drift = np.full((before.n_layers, before.n_heads), np.nan, np.float32)
    for layer in range(before.n_layers):
        if not before.has_weights(layer):
            continue
        old, new = (capture.record(layer).head_output_edited.double() for capture in (before, after))
        moved, length = (x.norm(dim=(0, 2)).cpu().numpy() for x in (new - old, old))  # (heads,)
        drift[layer, : len(length)] = np.divide(moved, length, out=np.full_like(moved, np.nan), where=length > 0)
    return drift


def _records(capture: Capture) -> list[LayerRecord]:
    return [record for record in capture.records if record is not None]
