"""Multiply-adds of attention per step, with a KV cache and without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int

from attention import masks
from model_runner import Capture
from model_runner.mask_rule import MaskRule
from model_runner.record import LayerRecord

ROWS = 256  # query rows counted at a time: O(ROWS × tokens) memory


@dataclass(frozen=True, eq=False)
class AttentionWork:
    """Multiply-adds of q · k and weights · v over all heads and layers, per step; masked cells are not counted.

    The first step reads the text in both cases. After it, a cache leaves one row of queries per step; without one every
    row is computed again. In an encoder-decoder model the encoder's own work is done once, in the first step of both.
    """

    cached: Int[np.ndarray, "steps"]
    uncached: Int[np.ndarray, "steps"]


def attention_work(capture: Capture, n_text: int, n_steps: int) -> AttentionWork:
    """For the steps after this many tokens: each unmasked cell costs d_head + d_value per head.

    O(tokens²) time and O(ROWS × tokens) memory for each kind of mask, where tokens is the final number.
    """
    once = 0
    if capture.attentions:
        encoder, decoder, cross = (capture.attention(name) for name in capture.attentions)
        n_read = len(encoder.tokens)
        once = int(_rows(encoder, n_read).sum())
        rows = _rows(decoder, n_text + n_steps) + n_read * sum(_cell(record) for record in cross.records if record)
    else:
        rows = _rows(capture, n_text + n_steps)
    whole = np.cumsum(rows)[n_text - 1 : n_text - 1 + n_steps]
    cached = rows[n_text - 1 : n_text - 1 + n_steps].copy()
    cached[:1] = whole[:1]
    for counts in (cached, whole):
        counts[:1] += once
    return AttentionWork(cached, whole)


def _cell(record: LayerRecord) -> int:
    """Multiply-adds of one query with one key, in all heads."""
    return record.q.shape[0] * (record.q.shape[2] + record.v.shape[2])


def _rows(capture: Capture, n_rows: int) -> Int[np.ndarray, "rows"]:
    """For self-attention of queries in a text of this length, over all layers."""
    rows = np.zeros(n_rows, np.int64)
    counted: dict[tuple[MaskRule, int | None], np.ndarray] = {}
    for record in capture.records:
        if record is None:
            continue
        # a window that does not mask anything yet is not in the mask
        window = None if masks.sees_ahead(record.mask.own) else record.window
        if (record.mask, window) not in counted:
            counted[record.mask, window] = _open_cells(record.mask, window, len(rows))
        rows += counted[record.mask, window] * _cell(record)
    return rows


def _open_cells(rule: MaskRule, window: int | None, n_rows: int) -> Int[np.ndarray, "rows"]:
    """Number of unmasked keys for each query, within the last ``window`` if there is one."""
    device = torch.device("cpu")
    blocks = [slice(start, min(start + ROWS, n_rows)) for start in range(0, n_rows, ROWS)]
    counts: list[np.ndarray] = []
    for rows in blocks:
        seen, keys = rule.tile(rows, slice(0, rows.stop), device), slice(0, rows.stop)
        seen = seen if window is None else seen & masks.tile(masks.Recent(window), rows, keys)
        counts.append(seen.sum(dim=1).numpy())
    return np.concatenate(counts)
