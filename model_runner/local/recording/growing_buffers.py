"""Stores what is recorded of a growing text: buffers of rows, to which each forward appends its tokens.

The memory is allocated once, for as many tokens as there can be. A record of the first n tokens is a view of the first
n rows, so that a step copies only its own rows, and records of fewer tokens never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import DynamicCache

from attention import masks
from model_runner.errors import N_
from model_runner.head_difference import HeadDifference
from model_runner.key_choice import KeyChoice
from model_runner.local.preallocated_cache import rows_behind
from model_runner.local.recording.arena import Arena
from model_runner.local.recording.head_pairs import HeadPairs
from model_runner.local.recording.indexer import NewlyChosen
from model_runner.local.recording.recorder import CannotRecord
from model_runner.local.recording.rotary_hooks import InferredRotation, RotaryCall, find_call, read_rotation
from model_runner.local.recording.token_rows import TokenRows, joined, rows_of, with_rows
from model_runner.mask_rule import MaskRule
from model_runner.record import LayerRecord
from model_runner.rotary import Rotation

MORE_THAN_ANGLES = N_("its rotation takes more than a cosine and a sine for each token")


@dataclass(eq=False)
class SharedRotation:
    """Cosines and sines of a rotation, ``[..., capacity, width]``; layers that were given the same ones share them."""

    found: InferredRotation | str  # from the first forward; a str says why it cannot be inverted
    leader: str  # the layer whose forward provides the new rows
    cos: Tensor | None
    sin: Tensor | None

    def first(self, n: int) -> Rotation | str:
        if isinstance(self.found, str) or self.cos is None or self.sin is None:
            return str(self.found)
        return replace(self.found.rotation, cos=self.cos.narrow(-2, 0, n), sin=self.sin.narrow(-2, 0, n))


@dataclass(eq=False)
class ChoiceRows:
    """The keys that an indexer chose, and how; layers that share its choice share this object."""

    capacity: int
    how: KeyChoice | None = None  # with room for all tokens
    keys: Tensor | None = None  # (queries from ``start`` on, chosen)
    start: int = 0

    def put(self, start: int, stop: int, chosen: NewlyChosen) -> None:
        """Store the rows of a forward's tokens."""
        if len(chosen.keys):
            if self.keys is None:  # from here on, queries leave out keys
                self.start = chosen.start
                self.keys = chosen.keys.new_empty(self.capacity - self.start, chosen.keys.shape[1])
            self.keys[chosen.start - self.start : stop - self.start].copy_(chosen.keys)
        if chosen.how is not None:
            if self.how is None:
                q, k, w = (one.new_empty(self.capacity, *one.shape[1:]) for one in _tensors(chosen.how))
                self.how = replace(chosen.how, q=q, k=k, weights=w)
            for room, rows in zip(_tensors(self.how), _tensors(chosen.how), strict=True):
                room[start:stop].copy_(rows[start - stop :])  # the keys include those that a cache held

    def first(self, n: int, own: MaskRule) -> tuple[MaskRule, KeyChoice | None]:
        """The layer's mask and the choice for the first ``n`` tokens, as views."""
        how = (
            None
            if self.how is None
            else replace(self.how, q=self.how.q[:n], k=self.how.k[:n], weights=self.how.weights[:n])
        )
        if self.keys is None or n <= self.start:
            return own, how
        return NewlyChosen(self.keys[: n - self.start], self.start, how).rule(own), how


def _tensors(how: KeyChoice) -> tuple[Tensor, Tensor, Tensor]:
    return how.q, how.k, how.weights


@dataclass(eq=False)
class LayerRows:
    """One layer: buffers with a row per token, and everything that does not change from token to token."""

    q: Tensor  # (capacity, heads, d_head)
    k: Tensor  # (kv_heads, capacity, d_head)
    v: Tensor  # (kv_heads, capacity, d_value)
    output: Tensor  # (capacity, heads, d_value)
    cached: bool  # k and v are the cache's own rows, already in place
    form: LayerRecord  # everything but the tensors
    rotation: SharedRotation | None
    choice: ChoiceRows | None
    own: TokenRows  # (capacity, …): per-token parts of the layer's bias, mask and sinks
    difference: HeadDifference | None = None  # with room for all tokens

    def first(self, n: int) -> LayerRecord:
        """The record of the first ``n`` tokens, as views."""
        mask, choice = (self.form.mask, None) if self.choice is None else self.choice.first(n, self.form.mask)
        form = replace(self.form, mask=mask)
        return replace(
            with_rows(form, [one[:n] for one in self.own.rows], self.own.left_out),
            choice=choice,
            q=self.q[:n].transpose(0, 1),
            k=self.k[:, :n],
            v=self.v[:, :n],
            output=self.output[:n],
            rotation=None if self.rotation is None else self.rotation.first(n),
            difference=self.difference and replace(self.difference, joined=self.difference.joined[:n]),
        )

    def put(self, start: int, q: Tensor, k: Tensor, v: Tensor, output: Tensor, own: TokenRows) -> None:
        """Store the rows of a forward, at ``start``; keys and values may include those that a cache held."""
        n_new = q.shape[1]
        stop = start + n_new
        self.q[start:stop].copy_(q.transpose(0, 1))
        self.output[start:stop].copy_(output)
        if not self.cached:
            self.k[:, start:stop].copy_(k[:, -n_new:])
            self.v[:, start:stop].copy_(v[:, -n_new:])
        for room, rows in zip(self.own.rows, own.rows, strict=True):
            room[start:stop].copy_(rows)
        self.own = replace(self.own, left_out=joined(self.own.left_out, own.left_out))


@dataclass(eq=False)
class GrowingBuffers:
    """Room for ``capacity`` tokens, ``length`` of which are filled; ``add`` extends it for a forward."""

    arena: Arena
    capacity: int
    cache: DynamicCache
    length: int = 0
    start: int = 0  # where the rows of the current forward begin
    layers: dict[str, LayerRows] = field(default_factory=dict)
    choices: dict[str, ChoiceRows] = field(default_factory=dict)  # by indexer
    streams: list[Tensor] = field(default_factory=list)  # (capacity, d_model) entering each layer, leaving the last
    hidden: Tensor | None = None  # (capacity, d_model)

    def record(self, name: str, n_tokens: int) -> LayerRecord | None:
        """A layer's record for the first ``n_tokens``, as views; None for a layer that recorded nothing."""
        rows = self.layers.get(name)
        return None if rows is None else rows.first(n_tokens)

    def first_hidden(self, n_tokens: int) -> Float[Tensor, "tokens d_model"]:
        """The output layer's input for the first ``n_tokens``."""
        if self.hidden is None:
            raise IndexError("no token has gone through the model yet")
        return self.hidden[:n_tokens]

    def add(self, n_tokens: int) -> None:
        """Begin a forward over this many more tokens."""
        self.start, self.length = self.length, self.length + n_tokens

    def begin(self, name: str, seen: LayerRecord, calls: list[RotaryCall]) -> None:
        """Record a layer in the first forward."""
        rows = self.layers[name] = self._rows(name, seen, calls)
        self._check(seen.q.shape[1], seen.k.shape[1])
        own = rows_of(seen.bias, seen.mask, seen.sinks, seen.q.shape[1])
        rows.put(self.start, seen.q, seen.k, seen.v, seen.output, own)

    def more(
        self,
        name: str,
        shown: tuple[Tensor, Tensor, Tensor, Tensor],
        calls: list[RotaryCall],
        chosen: NewlyChosen | None,
        own: TokenRows,
    ) -> bool:
        """Record a layer in a later forward: queries, keys, values and output, with the batch axis; keys and values
        include those of the cache.
        """
        query, key, value, output = shown
        rows = self.layers.get(name)
        if rows is None:
            return False
        self._check(query.shape[2], key.shape[2])
        rows.put(self.start, query[0], key[0], value[0], output[0], own)
        if chosen is not None:
            rows.choice = rows.choice or ChoiceRows(self.capacity)
            rows.choice.put(self.start, self.length, chosen)
        if rows.rotation is not None and rows.rotation.leader == name:
            self._more_angles(rows.rotation, query[0], calls)
        return True

    def join(self, name: str, given: Tensor, pairs: HeadPairs) -> None:
        """Store what a layer that attends in parts made of them in this forward, with the batch axis."""
        rows = self.layers[name]
        made = given.reshape(self.length - self.start, -1, rows.output.shape[2])
        if rows.difference is None:
            room = self._room((self.capacity, *made.shape[1:]), made.dtype)
            rows.difference = HeadDifference(pairs.factor, pairs.gain, pairs.eps, room)
        rows.difference.joined[self.start : self.length].copy_(made)

    def substituted(self, name: str) -> Tensor:
        """The layer's output for the new rows, with the batch axis, after substitutes have replaced softmax."""
        rows = self.layers[name]
        new = slice(self.start, self.length)
        rows.output[new] = rows.first(self.length).substitute_heads().output[new]
        return rows.output[new][None]

    def _check(self, n_queries: int, n_keys: int) -> None:
        if n_queries != self.length - self.start or n_keys < n_queries:
            raise CannotRecord(N_("its attention is given more than the new tokens"))

    def take_stream(self, place: int, stream: Tensor) -> None:
        """Store the stream ``[tokens, d_model]`` entering a layer or, after the last number, leaving the last."""
        if place == len(self.streams):
            self.streams.append(self._room((self.capacity, *stream.shape[1:]), stream.dtype))
        self.streams[place][self.start : self.length].copy_(stream)

    def take_hidden(self, hidden: Tensor) -> None:
        """Store the input of the output layer, ``[tokens, d_model]``."""
        if self.hidden is None:
            self.hidden = self._room((self.capacity, *hidden.shape[1:]), hidden.dtype)
        self.hidden[self.start : self.length].copy_(hidden)

    def _room(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        return self.arena.room(shape, dtype)

    def _rows(self, name: str, seen: LayerRecord, calls: list[RotaryCall]) -> LayerRows:
        q = self._room((self.capacity, len(seen.q), seen.q.shape[2]), seen.q.dtype)
        output = self._room((self.capacity, *seen.output.shape[1:]), seen.output.dtype)
        behind = rows_behind(self.cache, seen.k, seen.v)  # copied if on another device, and then not the same rows
        k, v = behind or (self._room((len(x), self.capacity, x.shape[2]), x.dtype) for x in (seen.k, seen.v))
        form = replace(seen, q=q[:0].transpose(0, 1), k=k[:, :0], v=v[:, :0], output=output[:0])
        choice, form = self._choice(name, form)
        new = rows_of(seen.bias, seen.mask, seen.sinks, seen.q.shape[1]).rows
        own = TokenRows(tuple(self._room((self.capacity, *one.shape[1:]), one.dtype) for one in new))
        return LayerRows(q, k, v, output, behind is not None, form, self._rotation(name, seen, calls), choice, own)

    def _choice(self, name: str, form: LayerRecord) -> tuple[ChoiceRows | None, LayerRecord]:
        """The rows of the layer's indexer, if any, with those of the first forward; and the record without a choice."""
        rule = form.mask.own
        chosen, how = masks.chosen_of(rule), form.choice
        if chosen is None and how is None:
            return None, form
        by = name if how is None else how.indexer
        if by not in self.choices:
            keys, start = (
                (torch.empty(0, 0, dtype=torch.int32), self.length) if chosen is None else (chosen.keys, chosen.start)
            )
            self.choices[by] = ChoiceRows(self.capacity)
            self.choices[by].put(self.start, self.length, NewlyChosen(keys, start, how))
        return self.choices[by], replace(form, mask=replace(form.mask, own=masks.before_choice(rule)), choice=None)

    def _rotation(self, name: str, seen: LayerRecord, calls: list[RotaryCall]) -> SharedRotation | None:
        """The layer's rotation, found and tested once for all layers that were given the same cosines."""
        if not calls:
            return SharedRotation(seen.rotation, "", None, None) if isinstance(seen.rotation, str) else None
        last = find_call(calls, seen.q)
        if last is None:
            return SharedRotation(N_("queries are changed again after the rotation"), "", None, None)
        call, start, stop = last
        for rows in self.layers.values():
            known = rows.rotation.found if rows.rotation is not None else None
            if isinstance(known, InferredRotation) and known.is_of(call, start, stop):
                return rows.rotation
        found = read_rotation(call, start, stop)
        if isinstance(found, str):
            return SharedRotation(found, "", None, None)
        rotation = found.rotation
        if rotation.cos.shape[-2] != self.length or any(
            torch.is_tensor(x) for x in (*call.rest, *call.options.values())
        ):
            return SharedRotation(MORE_THAN_ANGLES, "", None, None)
        cos, sin = (self._beside(part) for part in (rotation.cos, rotation.sin))
        return SharedRotation(found, name, cos, sin)

    def _beside(self, part: Tensor) -> Tensor:
        """Room for a row per token where tokens are the second-to-last axis, filled for this forward."""
        shape = (*part.shape[:-2], self.capacity, part.shape[-1])
        room = torch.empty(shape, dtype=part.dtype, device=part.device)
        room.narrow(-2, 0, part.shape[-2]).copy_(part)
        return room

    def _more_angles(self, shared: SharedRotation, q: Tensor, calls: list[RotaryCall]) -> None:
        found = find_call(calls, q)
        if found is None or found[0].cos_sin is None or shared.cos is None or shared.sin is None:
            raise CannotRecord(N_("it rotates a new token in another way than the text before it"))
        cos, sin = found[0].cos_sin
        shared.cos.narrow(-2, self.start, cos.shape[-2]).copy_(cos)
        shared.sin.narrow(-2, self.start, sin.shape[-2]).copy_(sin)
