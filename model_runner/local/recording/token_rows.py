"""Splits a layer's bias, mask and sinks into a row per token, and builds records from such rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention import masks
from model_runner.mask_rule import MaskRule
from model_runner.record import LayerRecord
from model_runner.token_bias import TokenBias


@dataclass(frozen=True, eq=False)
class TokenRows:
    """``rows`` have a row per token; ``left_out`` are the cells that the mask hides one by one."""

    rows: tuple[Tensor, ...] = ()
    left_out: Tensor | None = None


NONE = TokenRows()


def rows_of(bias: object, rule: MaskRule, sinks: Tensor | None, count: int) -> TokenRows:
    """The rows of the last ``count`` tokens."""
    own = bias.rows if isinstance(bias, TokenBias) else ()
    chosen = _chosen(rule)
    if chosen is not None:
        own = (*own, chosen.values.T, chosen.least.T)
    if sinks is not None and sinks.dim() == 2:
        own = (*own, sinks.T)
    return TokenRows(tuple(one[-count:] for one in own), None if chosen is None else chosen.left_out)


def with_rows(form: LayerRecord, rows: Sequence[Tensor], left_out: Tensor | None) -> LayerRecord:
    """The record with the bias, mask and sinks of these rows, in the order of :func:`rows_of`."""
    left = list(rows)
    if isinstance(form.bias, TokenBias):
        count = len(form.bias.rows)
        form, left = replace(form, bias=form.bias.with_rows(left[:count])), left[count:]
    own, chosen = form.mask.own, _chosen(form.mask)
    if isinstance(own, masks.And) and chosen is not None and left_out is not None:
        chosen = replace(chosen, values=left[0].T, least=left[1].T, left_out=left_out)
        form, left = replace(form, mask=replace(form.mask, own=masks.And(own.first, chosen))), left[2:]
    if form.sinks is not None and form.sinks.dim() == 2:
        form = replace(form, sinks=left[0].T)
    return form


def joined(before: Tensor | None, more: Tensor | None) -> Tensor | None:
    """The cells of both."""
    return more if before is None or more is None else torch.cat([before, more.to(before.device)])


def _chosen(rule: MaskRule) -> masks.LargestKeys | None:
    """The choice of keys by their own numbers, if the layer's rule ends in one."""
    own = rule.own
    return own.second if isinstance(own, masks.And) and isinstance(own.second, masks.LargestKeys) else None
