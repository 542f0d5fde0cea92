"""A request's edits for one layer's attention: changes of q, k, v, the mask and the output."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.edits import HeadEdit, MeanHead, ScaledHead, SharpenedHead, SwappedHeads
from model_runner.mask_rule import MaskEdit, MaskRule
from model_runner.substitution import Substituted

INT8_STEPS = 127  # on both sides: −128 is unused, so that the scale is symmetric


@dataclass(frozen=True, eq=False)
class LayerEdit:
    """The edits of one layer; tensors are (batch, heads, tokens, d) before attention, tokens first after it."""

    masks: tuple[MaskEdit, ...] = ()
    kv_heads: int | None = None
    int8: bool = False
    heads: tuple[HeadEdit, ...] = ()
    substitutes: tuple[Substituted, ...] = ()

    @property
    def changes(self) -> bool:
        """True if anything changes."""
        return bool(self.masks or self.kv_heads is not None or self.int8 or self.heads or self.substitutes)

    def substitute(self, head: int) -> Substituted | None:
        """The substitute of the head's softmax, if any."""
        return next((edit for edit in self.substitutes if edit.of(head)), None)

    def read(self, x: Tensor) -> Tensor:
        """Keys or values as the edited cache returns them."""
        if self.kv_heads is not None:
            x = mean_pooled(x, self.kv_heads)
        return through_int8(x) if self.int8 else x

    @property
    def temperatures(self) -> tuple[tuple[int, float], ...]:
        """Heads whose scores are divided, and the divisors."""
        return tuple((one.head, one.temperature) for one in self.heads if isinstance(one, SharpenedHead))

    def sharpen(self, query: Tensor) -> Tensor:
        """Scale queries so that scores are divided by their head's temperature."""
        for head, temperature in self.temperatures:
            query = query.clone()
            query[:, head] /= temperature
        return query

    def rule(self, own: MaskRule) -> MaskRule:
        """The layer's mask combined with the edits, once."""
        return own if own.edits or not self.masks else replace(own, edits=self.masks)

    def head_output_edited(self, output: Float[Tensor, "batch queries heads d_value"]) -> Tensor:
        """The edited input of the output projection; the same tensor if nothing changes."""
        for edit in self.heads:
            if isinstance(edit, SharpenedHead):
                continue
            output = output.clone()
            match edit:
                case ScaledHead(_, head, factor):
                    output[:, :, head] *= factor
                case MeanHead(_, head):
                    output[:, :, head] = output[:, :, head].mean(dim=1, keepdim=True)
                case SwappedHeads(_, first, second):
                    output[:, :, [first, second]] = output[:, :, [second, first]]
        return output

    def part_output_edited(
        self, output: Float[Tensor, "batch queries heads d_part"], part: int, n_parts: int
    ) -> Tensor:
        """Like :meth:`head_output_edited`, for one of several parts of a head's output; edits act elementwise."""
        if n_parts == 1:
            return self.head_output_edited(output)
        size = output.shape[-1]
        own, whole = slice(part * size, (part + 1) * size), output.new_zeros(*output.shape[:-1], n_parts * size)
        whole[..., own] = output
        return self.head_output_edited(whole)[..., own]


def mean_pooled(x: Float[Tensor, "batch kv_heads tokens d"], kv_heads: int) -> Tensor:
    """Each head replaced by the mean of its group of adjacent heads, ``kv_heads`` groups; the shape stays."""
    batch, heads, tokens, d = x.shape
    groups = x.reshape(batch, kv_heads, heads // kv_heads, tokens, d)
    return groups.mean(dim=2, keepdim=True).expand_as(groups).reshape(x.shape)


def through_int8(x: Tensor) -> Tensor:
    """Round to 8 bits along the last axis and back, in the same dtype; zeros stay zeros."""
    accurate = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = accurate.abs().amax(dim=-1, keepdim=True) / INT8_STEPS
    steps = (accurate / scale.clamp(min=torch.finfo(accurate.dtype).tiny)).round().to(torch.int8)
    return (steps * scale).to(x.dtype)
