"""The edits of a request as the attention of one layer takes them: what to do to q, k, v, the mask and the output."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.edits import HeadEdit, MeanHead, ScaledHead, SharpenedHead, SwappedHeads
from model_runner.mask_rule import MaskEdit, MaskRule
from model_runner.substitution import Substituted

INT8_STEPS = 127  # of either sign: −128 stays unused, so that the scale is symmetric


@dataclass(frozen=True, eq=False)
class LayerEdit:
    """What happens to one layer; tensors are (batch, heads, tokens, d) before attention, tokens first after it."""

    masks: tuple[MaskEdit, ...] = ()
    kv_heads: int | None = None
    int8: bool = False
    heads: tuple[HeadEdit, ...] = ()
    substitutes: tuple[Substituted, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything happens to the layer at all."""
        return bool(self.masks or self.kv_heads is not None or self.int8 or self.heads or self.substitutes)

    def substitute(self, head: int) -> Substituted | None:
        """What stands in the place of the head's softmax, if something does."""
        return next((edit for edit in self.substitutes if edit.of(head)), None)

    def read(self, x: Tensor) -> Tensor:
        """Keys or values as the edited cache gives them back."""
        if self.kv_heads is not None:
            x = mean_pooled(x, self.kv_heads)
        return through_int8(x) if self.int8 else x

    @property
    def temperatures(self) -> tuple[tuple[int, float], ...]:
        """Heads whose scores are divided, and by what."""
        return tuple((one.head, one.temperature) for one in self.heads if isinstance(one, SharpenedHead))

    def sharpen(self, query: Tensor) -> Tensor:
        """Queries whose scores come out divided by their head's temperature."""
        for head, temperature in self.temperatures:
            query = query.clone()
            query[:, head] /= temperature
        return query

    def rule(self, own: MaskRule) -> MaskRule:
        """The layer's mask with the edits laid over it, once."""
        return own if own.edits or not self.masks else replace(own, edits=self.masks)

    def head_output_edited(self, output: Float[Tensor, "batch queries heads d_value"]) -> Tensor:
        """What the heads give to the output projection; the tensor itself where nothing changes."""
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
        """The same of one of the parts that a head's numbers come in; an edit changes each number by itself."""
        if n_parts == 1:
            return self.head_output_edited(output)
        size = output.shape[-1]
        own, whole = slice(part * size, (part + 1) * size), output.new_zeros(*output.shape[:-1], n_parts * size)
        whole[..., own] = output
        return self.head_output_edited(whole)[..., own]


def mean_pooled(x: Float[Tensor, "batch kv_heads tokens d"], kv_heads: int) -> Tensor:
    """Each head replaced by the mean of its group of neighbours, of which ``kv_heads`` are made; the shape stays."""
    batch, heads, tokens, d = x.shape
    groups = x.reshape(batch, kv_heads, heads // kv_heads, tokens, d)
    return groups.mean(dim=2, keepdim=True).expand_as(groups).reshape(x.shape)


def through_int8(x: Tensor) -> Tensor:
    """The tensor rounded to 8 bits along its last axis and back, in its own dtype; zeros stay zeros."""
    accurate = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = accurate.abs().amax(dim=-1, keepdim=True) / INT8_STEPS
    steps = (accurate / scale.clamp(min=torch.finfo(accurate.dtype).tiny)).round().to(torch.int8)
    return (steps * scale).to(x.dtype)
