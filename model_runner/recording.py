"""The one place that sees every layer's q, k and v: an attention function registered with transformers.

The function computes nothing itself: it hands on to transformers' own scaled_dot_product_attention path, or, where
that path cannot express the layer (soft-cap, sinks), to the modeling module's own eager function, a block of query
rows at a time. While a :class:`Recording` is active in this context it also keeps what went in and what came out.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, causal_mask_function, sdpa_mask

from model_runner.errors import N_, Reason
from model_runner.mask_rule import CAUSAL, FULL, MaskRule
from model_runner.record import LayerRecord
from model_runner.rotary import RotaryCall, find_rotation, watch_rotations

NAME = "attention_atlas"  # must not contain sdpa, flex_attention or flash, nor look like owner/name
EAGER_ROWS = 256  # query rows per block where the model's eager function is used: O(rows × keys) memory


class CannotRecord(Exception):
    """A layer does something that the record cannot express."""

    def __init__(self, reason: Reason | str) -> None:
        self.reason = reason
        super().__init__(str(reason))


@dataclass(eq=False)
class Recording:
    """What one forward leaves behind; filled in place while the forward runs."""

    names: dict[int, str]  # id of an attention module -> its qualified name
    keep: Callable[[Tensor], Tensor] = torch.clone  # what is kept of a tensor of the forward
    check: Callable[[], None] = lambda: None  # called once per layer; raises to cancel
    records: dict[str, LayerRecord] = field(default_factory=dict)
    rules: list[tuple[Tensor, MaskRule]] = field(default_factory=list)
    rotary_calls: list[RotaryCall] = field(default_factory=list)


_ACTIVE: contextvars.ContextVar[Recording | None] = contextvars.ContextVar("attention_atlas_recording", default=None)


@contextlib.contextmanager
def active(recording: Recording) -> Generator[Recording]:
    """Record every attention call of this context (threads do not inherit it)."""
    token = _ACTIVE.set(recording)
    try:
        yield recording
    finally:
        _ACTIVE.reset(token)
        recording.rules.clear()  # the mask tensors of the forward end here: only their rules are kept
        recording.rotary_calls.clear()


def install(model: nn.Module) -> None:
    """Make the model's attention recordable: process-wide for its rotary functions, and for this model's attention."""
    watch_rotations(model, _hear_rotation)
    model.set_attn_implementation(NAME)  # type: ignore[operator]  # PreTrainedModel; torch types attributes as Tensor | Module


def _hear_rotation(call: RotaryCall) -> None:
    recording = _ACTIVE.get()
    if recording is not None:
        recording.rotary_calls.append(call)


def recordable_mask(
    *args: Any, mask_function: Any = causal_mask_function, use_vmap: bool = False, **options: Any
) -> Any:
    """transformers' sdpa mask, remembering the rule it was made from."""
    mask = sdpa_mask(*args, mask_function=mask_function, use_vmap=use_vmap, **options)
    recording = _ACTIVE.get()
    if recording is not None and mask is not None:
        recording.rules.append((mask, MaskRule(mask_function, use_vmap)))
    return mask


def recordable_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """The model's own attention: from (batch, heads, queries, d_head) to (batch, queries, heads, d_value)."""
    recording = _ACTIVE.get()
    if recording is not None:
        recording.check()
    softcap = options.get("softcap")
    sinks = options.get("s_aux") if options.get("s_aux") is not None else options.get("sinks")
    causal = is_causal if is_causal is not None else bool(getattr(module, "is_causal", True))
    causal = causal and query.shape[2] > 1
    eager = softcap is not None or sinks is not None
    if eager:
        output = _eager_by_rows(module, query, key, value, attention_mask, causal, scaling, options)
    else:
        output = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, is_causal=is_causal, **options
        )[0]
    if recording is not None:
        _refuse_unexpressible(options, query)
        recording.records[recording.names[id(module)]] = LayerRecord(
            q=recording.keep(query[0]),
            k=recording.keep(key[0]),
            v=recording.keep(value[0]),
            output=recording.keep(output[0]),
            scale=float(scaling) if scaling is not None else query.shape[-1] ** -0.5,
            softcap=softcap,
            sinks=None if sinks is None else sinks.detach(),
            mask=_rule_of(recording, attention_mask, causal),
            window=options.get("sliding_window"),
            rotation=find_rotation(recording.rotary_calls, query),
            eager=eager,
        )
        recording.rotary_calls.clear()
    return output, None


def _rule_of(recording: Recording, mask: Tensor | None, causal: bool) -> MaskRule:
    if mask is None:
        return CAUSAL if causal else FULL
    for made, rule in recording.rules:
        if made is mask or (made.data_ptr() == mask.data_ptr() and made.shape == mask.shape):
            return rule
    raise CannotRecord(N_("it passes a mask tensor of its own instead of a rule"))


def _refuse_unexpressible(options: dict[str, Any], query: Tensor) -> None:
    for name in ("position_bias", "indices", "block_indices"):
        if options.get(name) is not None:
            raise CannotRecord(Reason(N_("its attention takes {name}, which a capture cannot express"), {"name": name}))
    if query.shape[0] != 1:
        raise CannotRecord(N_("it splits one text into a batch of several"))


def _eager_by_rows(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    scaling: float | None,
    options: dict[str, Any],
) -> Tensor:
    """The modeling module's own ``eager_attention_forward``, by rows, which do not depend on each other."""
    eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    if eager is None:
        raise CannotRecord(N_("it has no attention function that could be called for soft-capped or sink attention"))
    blocks, every_key, rule = [], slice(0, key.shape[2]), CAUSAL if causal else FULL
    for start in range(0, query.shape[2], EAGER_ROWS):
        rows = slice(start, min(start + EAGER_ROWS, query.shape[2]))
        keep = rule.tile(rows, every_key, query.device) if mask is None else mask[:, :, rows]
        bias = torch.zeros(keep.shape, dtype=query.dtype, device=query.device)
        bias = bias.masked_fill_(~keep, torch.finfo(query.dtype).min).expand(1, 1, *keep.shape[-2:])
        blocks.append(eager(module, query[:, :, rows], key, value, bias, dropout=0.0, scaling=scaling, **options)[0])
    return torch.cat(blocks, dim=1)


AttentionInterface.register(NAME, recordable_attention)
AttentionMaskInterface.register(NAME, recordable_mask)
