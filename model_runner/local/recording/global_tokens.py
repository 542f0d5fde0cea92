"""PEGASUS-X's encoder (Phang et al. 2022, arXiv:2208.04347): beside the tokens of a text it has global ones of its own.

They begin as learned vectors and have queries, keys and a residual stream like all others. A token of the text sees its
block and every global token; a global token sees everything. In every other layer blocks begin half a block earlier.
Here the global tokens come after those of the text. The decoder does not see them.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention.masks import BlocksAndGlobals
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.local.recording.legacy_projections import Call, by_head, hook_projections
from model_runner.local.recording.recorder import UNKNOWN_MASK
from model_runner.mask_rule import MaskRule
from model_runner.record import LayerRecord
from model_runner.tokens import Token

ENCODER, ATTENTION = "PegasusXEncoder", "PegasusXGlobalLocalAttention"


def hook_global_tokens(model: nn.Module) -> bool:
    """Record these modules from now on. Returns False if the model has none."""
    found: list[Any] = [module for module in model.modules() if type(module).__name__ == ATTENTION]
    for module in found:
        hook_projections(
            module, ("q_proj", "k_proj", "v_proj"), lambda call, module=module: _record(module, call), last="out_proj"
        )
    return bool(found)


def count_globals(model: nn.Module) -> int:
    """How many global tokens its encoder has; 0 for other models."""
    found: list[Any] = [module for module in model.modules() if type(module).__name__ == ENCODER]
    return sum(len(module.embed_global.weight) for module in found)


def global_tokens(count: int, end: int) -> tuple[Token, ...]:
    """Tokens for display, placed after a text of so many characters."""
    return tuple(Token(-1 - place, f"⟨global {place + 1}⟩", end, end, special=True) for place in range(count))


def without_padding(stream: Float[Tensor, "rows d"], n_tokens: int, n_globals: int) -> Float[Tensor, "tokens d"]:
    """The rows of ``n_tokens`` tokens; the last ``n_globals`` of them are at the end, after a block's padding."""
    end = len(stream) - n_globals
    return torch.cat([stream[: n_tokens - n_globals], stream[end:]])


def _record(module: Any, call: Call) -> LayerRecord:
    n_heads, size = int(module.num_heads), int(module.block_size)
    (present,) = (call.kwargs["attention_mask"][0] == 0).nonzero(as_tuple=True)
    start, stop = int(present[0]), int(present[-1]) + 1
    if len(present) != stop - start:
        raise CannotRecord(UNKNOWN_MASK)

    def joined(text: Tensor, own: Tensor) -> Tensor:
        return torch.cat([text[:, start:stop], own], dim=1)

    q, k, v = (by_head(joined(*call.made[name]), n_heads) for name in ("q_proj", "k_proj", "v_proj"))
    own, text = call.before  # the output of the global tokens is projected first
    return LayerRecord(
        q=q * module.scaling,  # its code scales q too, before computing scores
        k=k,
        v=v,
        output=joined(text, own)[0].unflatten(-1, (n_heads, -1)),
        scale=1.0,
        softcap=None,
        sinks=None,
        mask=MaskRule(BlocksAndGlobals(size, start % size, stop - start)),
        window=None,
        rotation=None,
        eager=True,
    )
