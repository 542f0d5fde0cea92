"""Runs a model's eager attention function one block of query rows at a time, since its rows are independent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.local.cancellation import pause
from model_runner.mask_rule import MaskRule

ROWS = 256  # rows in a block: O(rows × keys) memory


def chunked_eager(
    eager: Callable[..., Any],
    query: Float[Tensor, "batch heads queries d_head"],
    key: Float[Tensor, "batch kv_heads keys d_head"],
    value: Float[Tensor, "batch kv_heads keys d_value"],
    mask: Tensor | None,
    rule: MaskRule,
    by_query: Mapping[str, Tensor],
) -> Float[Tensor, "batch queries heads d_value"]:
    """The function's output for all rows. Without a mask, ``rule`` provides it; a mask may also be additive.

    ``by_query`` are further arguments of the function, ``[batch, heads, queries, …]``.
    """
    blocks, every_key = [], slice(0, key.shape[2])
    for start in range(0, query.shape[2], ROWS):
        pause()
        rows = slice(start, min(start + ROWS, query.shape[2]))
        keep = rule.tile(rows, every_key, query.device)[None, None] if mask is None else mask[:, :, rows]
        bias = torch.zeros(keep.shape, dtype=query.dtype, device=query.device)
        if keep.dtype != torch.bool:
            bias, keep = keep, keep > torch.finfo(keep.dtype).min / 2
        bias = bias.masked_fill(~keep, torch.finfo(query.dtype).min)
        own = {name: one[:, :, rows] for name, one in by_query.items()}
        block = eager(query[:, :, rows], key, value, bias, **own)[0]
        sees = (
            keep.any(dim=1).any(dim=-1)[..., None] if keep.shape[1] == 1 else keep.any(dim=-1).transpose(1, 2)
        )  # a row with only the bias would mix every value, including later ones
        blocks.append(block if sees.all() else block.masked_fill(~sees[..., None], 0.0))
    return torch.cat(blocks, dim=1)
