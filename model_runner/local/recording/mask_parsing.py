"""Reads transformers' mask functions as rules: plain values instead of nested closures.

transformers (5.23) composes a mask from functions made by functions. Each is recognized by its code, and its numbers
are in its closure. An unknown mask is written out cell by cell, which is equivalent for the tokens of this text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor
from transformers import masking_utils as theirs

from attention import masks
from attention.masks import Rule
from model_runner.errors import N_
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.mask_rule import CAUSAL, FULL, MaskRule


def read_mask(function: Callable[..., Any]) -> Rule | None:
    """The equivalent rule; None for an unknown function."""
    if function is theirs.causal_mask_function:
        return masks.Causal()
    if function is theirs.bidirectional_mask_function:
        return masks.Full()
    read = _READ.get(getattr(function, "__code__", None))
    cells = zip(function.__code__.co_freevars, function.__closure__ or ()) if read is not None else ()
    return None if read is None else read(**{name: cell.cell_contents for name, cell in cells})


def rule_of(function: Callable[..., Any], mask: Tensor) -> Rule:
    """The rule that this mask ``[1, 1, queries, keys]`` was made from; for an unknown one, its cells."""
    return read_mask(function) or masks.Written.of(mask[0, 0])


def rule_of_cells(visible: Bool[Tensor, "heads queries keys"], *, across: bool = False) -> MaskRule:
    """The rule of these cells, which are the same for every head: a known one, or the cells themselves.

    The last query is the last key, unless it attends ``across`` to another text.
    """
    if not (visible == visible[0]).all():
        raise CannotRecord(N_("its heads have different masks"))
    if across:
        return FULL if bool(visible.all()) else MaskRule(masks.Written.of(visible[0]))
    reach = int(visible[0].sum(dim=-1).max())
    rules = (CAUSAL, FULL, MaskRule(masks.sliding_window(reach)))
    return next((rule for rule in rules if is_of(rule, visible)), MaskRule(masks.Written.of(visible[0])))


def is_of(rule: MaskRule, visible: Bool[Tensor, "heads queries keys"]) -> bool:
    """Whether the rule gives these cells; the last query is the last key."""
    _, queries, keys = visible.shape
    return bool((rule.tile(slice(keys - queries, keys), slice(0, keys), visible.device) == visible).all())


def _chunk(chunk_size: int, left_padding: Tensor) -> Rule | None:
    return masks.SameChunk(chunk_size) if not left_padding.any() else None


def _composed(of: Callable[[Rule, Rule], Rule], mask_functions: tuple[Callable[..., Any], ...]) -> Rule | None:
    rules = [read_mask(function) for function in mask_functions]
    known = [rule for rule in rules if rule is not None]
    return reduce(of, known) if len(known) == len(rules) and known else None


_NONE = torch.zeros(1, dtype=torch.long)
_READ: dict[Any, Callable[..., Rule | None]] = {
    theirs.sliding_window_overlay(1).__code__: lambda sliding_window: masks.Recent(window=sliding_window),
    theirs.sliding_window_bidirectional_overlay(1).__code__: lambda sliding_window: masks.Band(distance=sliding_window),
    theirs.chunked_overlay(1, _NONE).__code__: _chunk,
    theirs.and_masks().__code__: lambda mask_functions: _composed(masks.And, mask_functions),
    theirs.or_masks().__code__: lambda mask_functions: _composed(masks.Or, mask_functions),
}
