"""Biases that an attention module computes from tokens, read as a number per key or a profile per query.

Doge makes its mask from the values: a cell that a query may see holds a number of the key (`dt_proj`); if there are
more keys than its window, each query reads those with the largest numbers. Inkling's `rel_logits_proj` mixes learned
profiles over distances. Both are recorded where they are computed, and compared with the tensor that attention is
given; a mismatch raises an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attention import masks
from model_runner.errors import N_, EditNotPossible
from model_runner.layer_edit import LayerEdit
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.mask_rule import FULL, MaskRule
from model_runner.token_bias import KeyBias, ProfileBias, TokenBias

OTHER_BIAS = N_("it adds a bias to its scores that does not depend on the distance alone")
OTHER_MASK = N_("it passes its own mask tensor instead of a rule")
TIES = N_("its mask, made from the keys, has too many ties to be kept for so long a text")
OF_VALUES = N_("its mask is made from the values, which this edit changes after the mask is made")
MOST_LEFT_OUT = 1 << 22  # cells of a layer: some 100 MB
CLOSE = 8.0  # units of the dtype, of what is multiplied
Heard = Callable[[nn.Module, tuple[Tensor, ...]], None]


@dataclass(frozen=True, eq=False)
class MadeBias:
    """``mask`` keeps cells and ``added`` holds their numbers, as tensors of this call; ``bias`` is the same, kept.

    ``rule`` is that of the mask, None if another one covers it. ``bias`` has all keys of the call, or its queries.
    """

    mask: Tensor | None
    added: Tensor
    bias: TokenBias
    rule: MaskRule | None


def hook_made_biases(model: nn.Module, heard: Heard) -> None:
    """Call ``heard`` with what such modules computed, and with the module, before each of their attention calls."""
    for module in model.modules():
        part, tell = None, _tell_profiles
        if isinstance(getattr(module, "rel_logits_proj", None), nn.Module):
            part = module.rel_logits_proj
        elif hasattr(module, "prepare_dynamic_mask") and hasattr(module, "A"):
            part, tell = module.dt_proj, _tell_numbers
        if isinstance(part, nn.Module):
            part.register_forward_hook(tell(module, heard))


def _tell_profiles(module: nn.Module, heard: Heard) -> Any:
    def tell(_: nn.Module, given: tuple[Tensor, ...], made: Tensor) -> None:
        heard(module, (given[0], made))

    return tell


def _tell_numbers(module: nn.Module, heard: Heard) -> Any:
    def tell(_: nn.Module, __: Any, made: Tensor) -> None:
        heard(module, (made,))

    return tell


def key_bias(
    module: Any, heard: Tensor, mask: Tensor, rules: Sequence[tuple[Tensor, MaskRule]], n_heads: int, *, grows: bool
) -> MadeBias:
    """The bias of Doge: ``heard`` is the output of `dt_proj`, ``rules`` are those of this forward's masks.

    Raises CannotRecord if the ``mask`` does not match it.
    """
    values = torch.exp(module.A * nn.functional.softplus(heard[0])).T.to(mask.dtype)
    group = n_heads // len(values)
    keep = mask[0, ::group] > torch.finfo(mask.dtype).min / 2  # (kv_heads, queries, keys)
    fitting = mask.shape[1] == n_heads and len(mask) == 1
    if not fitting or not bool(((mask[0, ::group] == values[:, None]) | ~keep).all()):
        raise CannotRecord(OTHER_MASK)
    n_queries, n_keys = keep.shape[1:]
    found = [(made[0, 0, :, :n_keys], rule) for made, rule in rules if made.shape[-2] == n_queries]
    base = next(((cells, rule) for cells, rule in found if not bool((keep & ~cells).any())), None)
    if base is None:
        raise CannotRecord(OTHER_MASK)
    cells, rule = base
    whole = bool((keep == cells).all())
    if not whole or grows:
        rule = MaskRule(masks.And(rule.own, _choice(values, keep, cells, group, n_keys - n_queries)))
    full = mask > torch.finfo(mask.dtype).min / 2
    return MadeBias(full, values.repeat_interleave(group, dim=0)[None, :, None], KeyBias(values, group), rule)


def several(module: Any, heard: Tensor, mask: Tensor, n_heads: int) -> MadeBias:
    """The same for several texts at once, which are not recorded: each has a mask of its own."""
    values = torch.exp(module.A * nn.functional.softplus(heard)).transpose(1, 2).to(mask.dtype)
    group = n_heads // values.shape[1]
    added = values.repeat_interleave(group, dim=1)[:, :, None]
    return MadeBias(mask > torch.finfo(mask.dtype).min / 2, added, KeyBias(values[0], group), FULL)


def _choice(values: Tensor, keep: Tensor, cells: Tensor, group: int, start: int) -> masks.LargestKeys:
    """The choice for queries from ``start`` on; those before it read any keys."""
    numbers = values[:, None].float()
    least = numbers.expand_as(keep).masked_fill(~keep, torch.inf).amin(dim=-1)
    least = least.masked_fill((keep == cells).all(dim=-1), -torch.inf)
    left_out = (cells & ~keep & (numbers >= least[..., None])).nonzero()
    if len(left_out) > MOST_LEFT_OUT:
        raise CannotRecord(TIES)
    left_out[:, 1] += start
    least = torch.cat([least.new_full((len(least), start), -torch.inf), least], dim=1)
    return masks.LargestKeys(values.float(), least, group, left_out)


def profile_bias(module: Any, heard: tuple[Tensor, ...], added: Tensor, start: int) -> MadeBias:
    """The bias of Inkling: ``heard`` are the states of the queries and the bias made from them, from ``start`` on.

    Raises CannotRecord if ``added`` does not match it.
    """
    states, made = heard[0][0].transpose(0, 1), heard[1]
    places = torch.arange(start, start + states.shape[1], device=states.device)
    factors = torch.ones_like(places, dtype=torch.float32)
    floor = getattr(module.config, "log_scaling_n_floor", None)
    if added is not made and floor is not None:  # Inkling scales later queries up
        factors = 1.0 + module.config.log_scaling_alpha * torch.log(((places + 1) / floor).clamp(min=1.0))
    profiles = module.rel_logits_proj.proj.detach()
    bias, n_keys = ProfileBias(states, profiles, factors), added.shape[-1]
    stop = start + states.shape[1]
    whole = ProfileBias(
        torch.nn.functional.pad(states, (0, 0, start, 0)), profiles, torch.nn.functional.pad(factors, (start, 0))
    )
    near = CLOSE * torch.finfo(states.dtype).eps * bias.largest()
    for head in range(len(states)):
        tile = whole.tile(slice(head, head + 1), slice(start, stop), slice(stop - n_keys, stop))
        if len(added) != 1 or not bool(((tile - added[0, head].float()).abs() <= near[head]).all()):
            raise CannotRecord(OTHER_BIAS)
    return MadeBias(None, added, bias, None)


def sharpened(bias: TokenBias, edit: LayerEdit) -> TokenBias:
    """The bias after the temperatures of the heads."""
    for head, temperature in edit.temperatures:
        bias = bias.sharpened(head, temperature)
    return bias


def check_edit(bias: TokenBias, edit: LayerEdit) -> None:
    """Raises EditNotPossible for an edit that would change what a mask is made from."""
    if isinstance(bias, KeyBias) and (edit.kv_heads is not None or edit.int8):
        raise EditNotPossible(reason=OF_VALUES)
