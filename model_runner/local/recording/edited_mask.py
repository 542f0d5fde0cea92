"""Builds the mask tensor of an attention call whose rule the request changed, with its bias if it has one."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from model_runner.layer_edit import LayerEdit
from model_runner.mask_rule import MaskRule


def masked(
    edit: LayerEdit,
    rule: MaskRule,
    start: int,
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    options: dict[str, Any],
) -> tuple[Tensor | None, Tensor | None]:
    """The mask tensor and the bias after the edit; a changed mask includes the bias of ``options``."""
    bias = options.get("position_bias")
    if bias is not None:
        bias = options["position_bias"] = edit.sharpen(bias)
    if not rule.edits:
        return mask, bias
    if bias is not None:
        options["position_bias"] = None
    return _dense(rule, start, query, key, bias), bias


def _dense(rule: MaskRule, start: int, query: Tensor, key: Tensor, bias: Tensor | None) -> Tensor:
    """The rule as the mask tensor of this call, ``[1, 1 or heads, queries, keys]``; with a ``bias``, an additive one.

    With a cache, the last key belongs to the last query; in cross-attention, keys are positions of another text. Hidden
    cells are −inf under a bias, where transformers adds the smallest number: with that, a row that sees nothing would
    attend to everything equally.
    """
    stop, heads = start + query.shape[2], slice(0, query.shape[1])
    keys = slice(stop - key.shape[2], stop) if start else slice(0, key.shape[2])
    tiles = rule.tiles(heads, slice(start, stop), keys, query.device)
    keep = tiles[None, None] if tiles.dim() == 2 else tiles[None]
    return keep if bias is None else bias.masked_fill(~keep, float("-inf"))
