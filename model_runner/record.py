"""What is kept of one layer's attention: enough to give back any cell, and nothing of size queries × keys.

The queries are of the text; the keys are too, or, where a decoder looks at what its encoder has read, of another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention import softmax
from model_runner.layer_edit import LayerEdit
from model_runner.mask_rule import MaskRule
from model_runner.relative_bias import RelativeBias
from model_runner.rotary import Rotation


@dataclass(frozen=True, eq=False)
class LayerRecord:
    """One softmax-attention layer as it was in the forward; tensors in the model's dtype, on its device."""

    q: Float[Tensor, "heads queries d_head"]
    k: Float[Tensor, "kv_heads keys d_head"]
    v: Float[Tensor, "kv_heads keys d_value"]
    output: Float[Tensor, "queries heads d_value"]  # what the model's own attention returned
    scale: float
    softcap: float | None
    sinks: Float[Tensor, "heads"] | None
    mask: MaskRule
    window: int | None  # the sliding window the model named, the query itself included
    rotation: Rotation | str | None  # None: not rotated; a text: why it cannot be recovered
    eager: bool  # the model's eager function was used, which rounds scores to the model's dtype
    edit: LayerEdit | None = None  # what the request changed here; all but what it does to ``output`` is in the above
    bias: RelativeBias | None = None  # added to the scores

    @property
    def group(self) -> int:
        """Query heads per key/value head."""
        return self.q.shape[0] // self.k.shape[0]

    @property
    def nbytes(self) -> int:
        bias = 0 if self.bias is None else self.bias.values.nbytes
        return sum(tensor.nbytes for tensor in (self.q, self.k, self.v, self.output)) + bias

    @property
    def passed_on(self) -> Float[Tensor, "queries heads d_value"]:
        """What went on to the output projection: ``output``, unless the request changed heads."""
        return self.output if self.edit is None else self.edit.passed_on(self.output[None])[0]

    def scores(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"]:
        """Scaled, soft-capped, biased and masked scores of a tile; heads are whole groups or one head."""
        first, last = heads.start // self.group, (heads.stop - 1) // self.group
        return softmax.scores(
            self.q[heads, queries],
            self.k[first : last + 1, keys],
            scale=self.scale,
            softcap=self.softcap,
            bias=None if self.bias is None else self.bias.tile(heads, queries, keys),
            keep=self.mask.tiles(heads, queries, keys, self.q.device),
        )

    def log_sum_exp(self, heads: slice, queries: slice, rows: int) -> Float[Tensor, "heads queries"]:
        """Softmax denominators (natural log), over every key; O(heads × rows × keys) memory."""
        every_key = slice(0, self.k.shape[1])
        sinks = None if self.sinks is None else self.sinks[heads]
        blocks = [
            softmax.log_sum_exp(self.scores(heads, slice(start, min(start + rows, queries.stop)), every_key), sinks)
            for start in range(queries.start, max(queries.stop, queries.start + 1), rows)
        ]
        return torch.cat(blocks, dim=1)
