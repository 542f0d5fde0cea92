"""Attention with a single softmax over two kinds of keys.

T5Gemma 2's decoder attends to target and source tokens. DeepSeek-V4 attends to tokens and to compressed keys, each of
which stands for several tokens (:mod:`model_runner.local.recording.compressed_keys`).

Each row is kept in two parts, one per kind. A part's weights are exp(score − lse) with the lse of the whole row; the
other part's share of that sum acts as a sink, one number per head and query. So the rows of the two maps sum to 1
together, or to what a learned sink leaves. The output of a part is what the model's own attention returns with the
values of the other part set to 0.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.errors import N_, EditNotPossible
from model_runner.layer_edit import LayerEdit
from model_runner.local.recording.edited_mask import masked
from model_runner.mask_rule import MaskRule
from model_runner.record import LayerRecord

MERGED = N_("one softmax of its decoder weighs what it has written and what it reads together, not one after the other")
OF_BOTH = N_("one softmax weighs what is written and what is read, and this would change it for only one of the two")
READ_UNTURNED = N_("queries are rotated to their positions here, and the keys of the other text are not")
ROWS = 128  # queries whose scores are summed at once
Rows = Float[Tensor, "batch queries heads d_value"]


def hook_merged(model: nn.Module, heard: Callable[[nn.Module, int], None]) -> None:
    """Call ``heard`` before each call of such a module with the number of source keys, which come last."""

    def hook(module: nn.Module, _: Any, given: dict[str, Any]) -> None:
        heard(module, given["encoder_hidden_states"].shape[1])

    for module in model.modules():
        if _takes_both(module) and not any(map(_takes_both, module.children())):  # a layer passes on both
            module.register_forward_pre_hook(hook, with_kwargs=True)


def _takes_both(module: nn.Module) -> bool:
    return {"merged_attention_mask", "encoder_hidden_states"} <= inspect.signature(module.forward).parameters.keys()


@dataclass(frozen=True, eq=False)
class MergedPart:
    """The keys of one kind after the request's edit, and the mask over these keys alone.

    ``rest_in`` is the attention whose map holds the rest of each row; ``rotation`` says why the rotation is not known,
    if it is not.
    """

    key: Float[Tensor, "batch kv_heads keys d_head"]
    value: Float[Tensor, "batch kv_heads keys d_value"]
    mask: Tensor
    rule: MaskRule
    edit: LayerEdit
    rest_in: str
    rotation: str | None = None

    def edited(self, query: Tensor, reason: str = OF_BOTH) -> MergedPart:
        """The same after its edit.

        Raises EditNotPossible for a temperature or a substitute, since the softmax is shared.
        """
        if self.edit.temperatures or self.edit.substitutes:
            raise EditNotPossible(reason=reason)
        key, value, rule = self.edit.read(self.key), self.edit.read(self.value), self.edit.rule(self.rule)
        mask, _ = masked(self.edit, rule, 0, query, key, self.mask, {})
        return replace(self, key=key, value=value, rule=rule, mask=self.mask if mask is None else mask)

    def head_output_edited(self, output: Rows) -> Rows:
        """What the heads pass to the output projection from this kind of keys."""
        return self.edit.head_output_edited(output)


@dataclass(frozen=True, eq=False)
class MergedCall:
    """One call of such a module; ``attend`` is the model's own attention, given keys, values and a mask of both kinds.

    ``written`` are the keys of the queries' own tokens, ``read`` the others. ``sinks`` are learned, one per head;
    ``eager`` is as in a record.
    """

    query: Float[Tensor, "batch heads queries d_head"]
    written: MergedPart
    read: MergedPart
    attend: Callable[[Tensor, Tensor, Tensor], Rows]
    sinks: Float[Tensor, "heads"] | None = None
    eager: bool = False

    def output(self) -> Rows:
        """The module's output: its own, except where an edit changes what heads pass on."""
        if self.written.edit.changes or self.read.edit.changes:
            own = self.outputs
            changed = (self.written.head_output_edited(own[0]), self.read.head_output_edited(own[1]))
            if changed[0] is not own[0] or changed[1] is not own[1]:
                return changed[0] + changed[1]
        return self._attend(self.written.value, self.read.value)

    @cached_property
    def outputs(self) -> tuple[Rows, Rows]:
        """What each kind of keys contributes to the output."""
        first, second = self.written.value, self.read.value
        return self._attend(first, torch.zeros_like(second)), self._attend(torch.zeros_like(first), second)

    def _attend(self, first: Tensor, second: Tensor) -> Rows:
        key, value = torch.cat([self.written.key, self.read.key], dim=2), torch.cat([first, second], dim=2)
        shape = torch.broadcast_shapes(self.written.mask.shape[:3], self.read.mask.shape[:3])
        return self.attend(
            key, value, torch.cat([one.mask.expand(*shape, -1) for one in (self.written, self.read)], -1)
        )

    def records(self, scale: float, window: int | None) -> tuple[LayerRecord, LayerRecord]:
        """The records of a call for each kind of keys; uses O(heads × ROWS × keys) more memory."""
        written, read = (self._record(part, own, scale) for part, own in zip((self.written, self.read), self.outputs))
        heads, queries = (slice(0, count) for count in self.query.shape[1:3])
        of_written, of_read = (one.log_sum_exp(heads, queries, ROWS) for one in (written, read))
        return (
            replace(written, sinks=self._beside(of_read), window=window),
            replace(read, sinks=self._beside(of_written)),
        )

    def _beside(self, rest: Float[Tensor, "heads queries"]) -> Float[Tensor, "heads queries"]:
        """The rest of the softmax beside a part's own keys: the other part's keys, and the learned sink."""
        return rest if self.sinks is None else torch.logaddexp(rest, self.sinks.to(rest)[:, None])

    def _record(self, part: MergedPart, output: Rows, scale: float) -> LayerRecord:
        return LayerRecord(
            q=self.query[0],
            k=part.key[0],
            v=part.value[0],
            output=output[0],
            scale=scale,
            softcap=None,
            sinks=None,
            mask=part.rule,
            window=None,
            rotation=part.rotation,
            eager=self.eager,
            edit=part.edit if part.edit.changes else None,
            rest_in=part.rest_in,
        )
