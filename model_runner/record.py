"""The record of one layer's attention: enough to compute any cell, without anything of size queries × keys.

The queries are tokens of the text. So are the keys, except where a decoder attends to its encoder's output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import torch
from jaxtyping import Float
from torch import Tensor

from attention import softmax
from attention.masks import chosen_of
from attention.unrolled import Unrolled
from attention.zoo.head import Head
from attention.zoo.layer import Layer
from model_runner.head_difference import HeadDifference
from model_runner.key_choice import KeyChoice
from model_runner.layer_edit import LayerEdit
from model_runner.mask_rule import MaskRule
from model_runner.one_thread import one_thread
from model_runner.relative_bias import RelativeBias
from model_runner.relative_key_bias import RelativeKeyBias
from model_runner.repeated_keys import RepeatedKeys
from model_runner.rotary import Rotation
from model_runner.substitution import LONGEST, Substituted, TextTooLongForMaps
from model_runner.token_bias import TokenBias

AT_ONCE = 2**22  # scores of heads that are substituted together
SHORT = 512  # tokens up to which a product of one head's matrices is too small for several threads


@dataclass(frozen=True, eq=False)
class LayerRecord:
    """One layer that mixes tokens, as it was in the forward; tensors in the model's dtype, on its device.

    Heads whose softmax the request substituted have a map instead, see :meth:`weights`. So has a layer without softmax
    whose recurrence is ``unrolled``: ``v`` are its inputs and ``output`` is what it makes of them, before a gate; ``q``
    and ``k`` are what it multiplies the state by when it reads and writes, with no numbers where it has no such vector.
    """

    q: Float[Tensor, "heads queries d_head"]
    k: Float[Tensor, "kv_heads keys d_head"]
    v: Float[Tensor, "kv_heads keys d_value"]
    output: Float[Tensor, "queries heads d_value"]  # what the model's own attention returned, or a substitute's output
    scale: float
    softcap: float | None
    sinks: Float[Tensor, "heads *queries"] | None  # one per head, or one per query of every head
    mask: MaskRule
    window: int | None  # the sliding window the model named, the query itself included
    rotation: Rotation | str | None  # None: not rotated; a str: why it cannot be recovered
    eager: bool  # the model's eager function was used, which rounds scores to the model's dtype
    edit: LayerEdit | None = None  # what the request changed here; all but its effect on ``output`` is in the above
    bias: RelativeBias | RelativeKeyBias | RepeatedKeys | TokenBias | None = (
        None  # added to the scores, see :meth:`biases`
    )
    choice: KeyChoice | None = None  # how an indexer chose keys; shared by layers that share a choice
    difference: HeadDifference | None = None  # where the model subtracts heads from each other
    rest_in: str | None = None  # the attention whose map has the rest of each row; ``sinks`` are then its log-sum-exp
    unrolled: Unrolled | None = None  # for a layer without softmax

    def __repr__(self) -> str:
        """One line with the numbers of heads, queries and keys."""
        queries, heads = self.output.shape[:2]
        shared = "" if self.group == 1 else f" on {len(self.k)} of keys and values"
        return f"<LayerRecord: {heads} heads{shared}, {queries} queries, {self.v.shape[1]} keys>"

    @property
    def group(self) -> int:
        """Query heads per key/value head."""
        return self.q.shape[0] // self.k.shape[0]

    @property
    def nbytes(self) -> int:
        bias = 0 if self.bias is None else self.bias.nbytes
        bias += 0 if self.sinks is None or self.sinks.dim() == 1 else self.sinks.nbytes
        joined = 0 if self.difference is None else self.difference.joined.nbytes
        own = 0 if self.unrolled is None else self.unrolled.nbytes
        return sum(tensor.nbytes for tensor in (self.q, self.k, self.v, self.output)) + bias + joined + own

    @property
    def chosen(self) -> tuple[Tensor, ...]:
        """The tensors kept of the choice of keys; the same ones if layers share a choice."""
        keys, how = chosen_of(self.mask.own), self.choice
        return (*(() if keys is None else (keys.keys,)), *(() if how is None else (how.q, how.k, how.weights)))

    @property
    def head_output_edited(self) -> Float[Tensor, "queries heads d_value"]:
        """The input of the output projection: ``output``, unless the request changed heads."""
        return self.output if self.edit is None else self.edit.head_output_edited(self.output[None])[0]

    def scores(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"]:
        """Scaled, soft-capped, biased and masked scores of a tile; ``heads`` are whole groups or a single head."""
        first, last = heads.start // self.group, (heads.stop - 1) // self.group
        return softmax.scores(
            self.q[heads, queries],
            self.k[first : last + 1, keys],
            scale=self.scale,
            softcap=self.softcap,
            bias=self.biases(heads, queries, keys),
            keep=self.mask.tiles(heads, queries, keys, self.q.device),
        )

    def biases(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"] | None:
        """What is added to the scores of a tile, float32; None if the layer adds nothing."""
        if isinstance(self.bias, RepeatedKeys):
            return self.bias.tile(heads, queries, keys, self.q.device)
        if not isinstance(self.bias, RelativeKeyBias):
            return None if self.bias is None else self.bias.tile(heads, queries, keys)
        return self.bias.tile(self.q[heads, queries], self._keys_of(heads, keys), heads, queries, keys)

    def _keys_of(self, heads: slice, keys: slice) -> Float[Tensor, "heads keys d_head"]:
        first, last = heads.start // self.group, (heads.stop - 1) // self.group
        return self.k[first : last + 1, keys].repeat_interleave(self.group, dim=0)[: heads.stop - heads.start]

    def squared_parts(self, heads: slice, queries: slice, keys: slice) -> Tensor | None:
        """Σ x² of what own code rounds before it is a score: the terms, their sum, q·k, and the products that q·k
        is the sum of, since it divides one of the two; None where the score is q·k and a number at most.
        """
        if not isinstance(self.bias, RelativeKeyBias):
            return None
        q, k = self.q[heads, queries].float(), self._keys_of(heads, keys).float()
        products = (q**2 @ (k**2).transpose(1, 2)) + (q @ k.transpose(1, 2)) ** 2
        return self.scale**2 * products + self.bias.squares(q, k, heads, queries, keys)

    def largest_bias(self) -> Float[Tensor, "heads"]:
        """An upper bound of what is added to any cell of each head; 0 if the layer adds nothing."""
        if isinstance(self.bias, RepeatedKeys):
            return self.q.new_full((len(self.q),), self.bias.most, dtype=torch.float32)
        if isinstance(self.bias, RelativeKeyBias):
            return self.bias.largest(self.q, self.k.repeat_interleave(self.group, dim=0))
        return self.q.new_zeros(len(self.q), dtype=torch.float32) if self.bias is None else self.bias.largest()

    def substitute(self, head: int) -> Substituted | None:
        """What replaces the head's softmax, if anything does."""
        return None if self.edit is None else self.edit.substitute(head)

    @property
    def substituted(self) -> tuple[int, ...]:
        """Heads whose softmax was replaced."""
        return tuple(head for head in range(len(self.q)) if self.substitute(head) is not None)

    @property
    def without_softmax(self) -> tuple[int, ...]:
        """The same, and every head of a layer that never had softmax."""
        return self.substituted if self.unrolled is None else tuple(range(len(self.q)))

    def weights(
        self, heads: slice, queries: slice, keys: slice, rows: int, lse: Tensor | None = None, *, shares: bool = False
    ) -> Float[Tensor, "heads queries keys"]:
        """What the values are multiplied by: softmax, or the map of what replaces it.

        ``lse`` [heads, queries] are the denominators if known. ``shares``: for such a map, absolute values normalized
        to sum to 1 in each row. O(heads × rows × keys) memory; O(tokens²) for a head whose softmax is substituted.
        """
        if self.unrolled is not None:
            return self._unrolled(self.unrolled, heads, queries, keys, shares=shares)
        if lse is None and keys == slice(0, self.k.shape[1]) and queries.stop - queries.start <= rows:
            shown = self.scores(heads, queries, keys)  # over every key, since the denominators need them
            lse = softmax.log_sum_exp(shown, self.sinks_at(heads, queries))
        else:
            lse = self.log_sum_exp(heads, queries, rows) if lse is None else lse
            shown = self.scores(heads, queries, keys)
        found = softmax.weights(shown, lse)
        for head in (head for head in self.substituted if heads.start <= head < heads.stop):
            found[head - heads.start] = self.map_of(head, shares=shares)[queries, keys].to(found)
        return found

    def _unrolled(self, own: Unrolled, heads: slice, queries: slice, keys: slice, *, shares: bool) -> Tensor:
        if not shares:
            return own.tile(heads, queries, keys) + 0.0  # avoids −0 for later keys
        found = own.tile(heads, queries, slice(0, self.k.shape[1])).abs()
        return (found / found.sum(-1, keepdim=True).clamp(min=torch.finfo(found.dtype).tiny))[..., keys]

    def map_of(self, head: int, *, shares: bool = False) -> Float[Tensor, "queries keys"]:
        """The whole map of a head whose softmax is substituted, float64, on the CPU."""
        if self.unrolled is not None:
            every = slice(0, self.q.shape[1])
            return self.weights(slice(head, head + 1), every, every, len(self.q), shares=shares)[0].double().cpu()
        edit = self.substitute(head)
        if edit is None:
            raise ValueError("this head has its softmax")
        with one_thread(self.q.shape[1] <= SHORT):
            found = edit.map(self.as_head(head, layer=self.shared_by(edit)))
        if shares:
            total = found.abs().sum(-1, keepdim=True)
            return found.abs() / torch.where(total == 0, 1.0, total)
        return found

    def substitute_heads(self) -> LayerRecord:
        """The record with the output of what replaces softmax. Raises VariantNotHere, among others."""
        if not self.substituted:
            return self
        if (n_tokens := self.q.shape[1]) > LONGEST:
            raise TextTooLongForMaps(tokens=n_tokens, limit=LONGEST)
        output = self.output.clone()
        with one_thread(n_tokens <= SHORT):
            for edit, some, heads in self.replaced():
                output[:, some] = torch.stack(edit.outputs(heads), 1).to(output)
        return replace(self, output=output)

    def replaced(self) -> Iterator[tuple[Substituted, list[int], list[Head]]]:
        """Each substitute with its heads, a batch at a time, and these heads in the form that the zoo takes."""
        count = max(1, AT_ONCE // self.q.shape[1] ** 2)
        for edit, named in groupby(self.substituted, self.substitute):
            heads, layer = list(named), self.shared_by(edit)
            for some in (heads[start : start + count] for start in range(0, len(heads), count)):
                if edit is not None:
                    yield edit, some, self.as_heads(some, layer=layer)

    def shared_by(self, edit: Substituted | None, part: slice | None = None) -> Layer | None:
        """:meth:`layer`, if a substitute needs it."""
        return self.layer(part) if edit is not None and edit.row.needs_layer else None

    def layer(self, part: slice | None = None) -> Layer | None:
        """The keys of all heads before rotation, and the values, float64, on the CPU; None if they are not known."""
        part, rotation = part or slice(0, self.q.shape[1]), self.rotation
        k, v = (one[:, part].double().cpu() for one in (self.k, self.v))
        if isinstance(rotation, str):
            return None
        if rotation is None:
            return Layer(k, v)
        here = rotation.of(part)
        return Layer(here.unrotate(k), v, here.rotate, here.unrotate, lambda x, places: here.at(places).rotate(x))

    def as_head(self, head: int, part: slice | None = None, layer: Layer | None = None) -> Head:
        """One head in the form that the zoo takes, float64, on the CPU; for all tokens, or for some as if there were no
        others.
        """
        return self.as_heads((head,), part, layer)[0]

    def as_heads(self, heads: Sequence[int], part: slice | None = None, layer: Layer | None = None) -> list[Head]:
        """Several heads in that form; O(heads × tokens²) memory."""
        part, n_heads = part or slice(0, self.q.shape[1]), len(self.q)
        wanted = {one for head in heads for one in (head, (head + 1) % n_heads)}  # each next to the following one
        if wanted == set(range(n_heads)):
            known = dict(enumerate(self._exact_scores(slice(0, n_heads), part)))
        else:
            known = {one: self._exact_scores(slice(one, one + 1), part)[0] for one in wanted}
        return [
            Head(
                q=self.q[head, part].double().cpu(),
                k=self.k[head // self.group, part].double().cpu(),
                v=self.v[head // self.group, part].double().cpu(),
                scale=self.scale,
                keep=self.mask.tile(part, part, self.q.device, head=head).cpu(),
                scores=known[head],
                beside=known[(head + 1) % n_heads] if n_heads > 1 else None,
                sink=self._sink_of(head, part),
                layer=layer,
                kv_head=head // self.group,
            )
            for head in heads
        ]

    def _exact_scores(self, heads: slice, part: slice) -> Float[Tensor, "heads tokens tokens"]:
        """Like :meth:`scores`, float64, on the CPU."""
        first, last = heads.start // self.group, (heads.stop - 1) // self.group
        return softmax.scores(
            self.q[heads, part].double(),
            self.k[first : last + 1, part].double(),
            scale=self.scale,
            softcap=self.softcap,
            bias=None if (bias := self.biases(heads, part, part)) is None else bias.double(),
            keep=self.mask.tiles(heads, part, part, self.q.device),
        ).cpu()

    def log_sum_exp(self, heads: slice, queries: slice, rows: int) -> Float[Tensor, "heads queries"]:
        """Softmax denominators (natural log) over every key; O(heads × rows × keys) memory."""
        every_key = slice(0, self.k.shape[1])
        starts = range(queries.start, max(queries.stop, queries.start + 1), rows)
        blocks = [slice(start, min(start + rows, queries.stop)) for start in starts]
        found = [
            softmax.log_sum_exp(self.scores(heads, block, every_key), self.sinks_at(heads, block)) for block in blocks
        ]
        return torch.cat(found, dim=1)

    def sinks_at(self, heads: slice, queries: slice) -> Float[Tensor, "heads queries"] | None:
        """The sink logits of these rows; None if the layer has none."""
        if self.sinks is None:
            return None
        own = self.sinks[heads] if self.sinks.dim() == 1 else self.sinks[heads, queries]
        return own[:, None].expand(-1, queries.stop - queries.start) if own.dim() == 1 else own

    def _sink_of(self, head: int, part: slice) -> float | Tensor | None:
        if self.sinks is None:
            return None
        return float(self.sinks[head]) if self.sinks.dim() == 1 else self.sinks[head, part].double().cpu()
