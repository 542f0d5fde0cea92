"""A capture: one text through one model, which can compute any cell of any head.

It stores q, k, v and the attention output of every layer, the residual stream and the masks as rules; its size grows
with the number of tokens. Weights are computed on demand, exactly: ``exp(score − lse)``.

If keys stand for several tokens each (DeepSeek-V4), they are the keys of a separate capture, ``compressed``.

An encoder-decoder model has three attentions: encoder self-attention, decoder self-attention, and cross-attention
("cross"), whose keys belong to another text than its queries.
"""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention import masks
from model_runner import memory, verification
from model_runner.block_questions import AddedByPart
from model_runner.checked_rows import rows_checked
from model_runner.edits import ATTENTIONS
from model_runner.errors import (
    AwayFromModel,
    EncoderSaysNothing,
    NoAttribution,
    NoCompressedKeys,
    NoDifference,
    NoIndexer,
    NoRotation,
    NoSuchAttention,
    NoSuchPlace,
    NotRecoverable,
    NotUnderstood,
    NoWeights,
    Reason,
    UserFacingError,
    WeightsExceedMemory,
)
from model_runner.layer_origin import LayerOrigin
from model_runner.lazy_tensor import is_away
from model_runner.matrix_edit import CHANGED, ScaledSingulars
from model_runner.question import Answerer, DirectLogits, HeadWrites, Logits, Question
from model_runner.record import LayerRecord
from model_runner.request import CaptureRequest
from model_runner.saved_bytes import saved_bytes
from model_runner.substitution import NoScores, NoSoftmax
from model_runner.token_questions import LikelyTokens, Surprisals, TopLogits, VerifyLayer
from model_runner.tokens import Token
from model_runner.verification import Check

# of one forward: the captures with compressed keys, and with the tokens' own
COMPRESSED, TOKENS = "compressed", "tokens"
SHOWN = 40  # characters of the text in a capture's repr
FEW = 4  # query rows for which computing all denominators does not pay
ROWS = 128  # query rows per block of the lazy computations: O(heads × ROWS × keys) memory


@dataclass(frozen=True, eq=False)
class Capture:
    """Layers, heads and positions count from 0, negative ones from the end. All fields of ``request`` are resolved."""

    request: CaptureRequest
    tokens: tuple[Token, ...]
    kinds: tuple[str, ...]
    records: tuple[LayerRecord | None, ...]
    residuals: tuple[Float[Tensor, "tokens d_stream"], ...]
    hidden: Float[Tensor, "tokens d_model"]  # after the final norm: the input of the output layer
    # provides the output layer; None: only logits that are known already
    asked: Answerer | None = field(default=None, repr=False)
    class_logits: Float[Tensor, "classes"] | None = None  # of a classifier: its scores, float32, instead of logits
    fingerprint: str = ""  # of the model's weights; empty if unknown
    written: str | None = None  # see ``text``; None: the request's
    source: tuple[Token, ...] | None = None  # see ``keys``; None: self-attention
    others: tuple[Capture, ...] = ()  # of the same forward, each for another attention
    origins: tuple[LayerOrigin, ...] = ()  # of each layer; empty if each is a module of its own, in one stack
    _lse: dict[int, Tensor] = field(default_factory=dict, repr=False)
    _logits: dict[int, Tensor] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        """One line: the text, the model, and the size."""
        text = self.text if len(self.text) <= SHOWN else f"{self.text[:SHOWN]}…"
        of, edits = self.request.attention, len(self.request.edits)
        kind = f"{of} attention of " if of else ""
        changed = f", {edits} {'edit' if edits == 1 else 'edits'}" if edits else ""
        sizes = f"{len(self.tokens)} tokens, {self.n_layers} layers, {self.n_heads} heads"
        return f"<Capture: {kind}{text!r} by {self.request.model}, {sizes}{changed}>"

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a .safetensors file, which :func:`model_runner.load_capture` reads without the model.

        Includes the logits of the last position, and all that were requested before. About :attr:`nbytes` bytes. Raises
        OSError.
        """
        with suppress(UserFacingError):  # without an output layer, or the model, there are no further logits
            self.logits(-1)
        Path(path).write_bytes(saved_bytes(self))

    def __copy__(self) -> Capture:
        return self

    def __deepcopy__(self, _: object) -> Capture:
        return self  # immutable, and a copy by its bytes would lose its model

    @property
    def keys(self) -> tuple[Token, ...]:
        """The key tokens."""
        return self.tokens if self.source is None else self.source

    @property
    def attentions(self) -> tuple[str, ...]:
        """Valid arguments of :meth:`attention`; empty for a model with one stack of layers."""
        every = [one.request.attention for one in (self, *self.others)]
        return tuple(name for name in ATTENTIONS if name in every)

    def attention(self, name: str) -> Capture:
        """The capture of "encoder", "decoder" or "cross" attention in the same forward. Raises NoSuchAttention."""
        for one in (self, *self.others):
            if one.request.attention == name:
                rest = tuple(other for other in (self, *self.others) if other is not one)
                return replace(one, others=tuple(replace(other, others=()) for other in rest))
        raise NoSuchAttention(wanted=name, names=", ".join(self.attentions) or "–")

    @property
    def compressed(self) -> Capture | None:
        """The capture of the same forward whose keys stand for several tokens each; None if there is none."""
        found = next((one for one in self.others if one.request.attention == COMPRESSED), None)
        return found and replace(found, others=(replace(self, others=()),))

    def rest_of(self, layer: int) -> Capture | None:
        """The capture with the remainder of this layer's rows; None if they are complete."""
        rest_in = self.record(layer).rest_in
        if rest_in is None:
            return None
        wanted = None if rest_in == TOKENS else rest_in
        return next(one for one in self.others if one.request.attention == wanted)

    @property
    def text(self) -> str:
        """The text to which the tokens' character ranges refer: the request's, with chat template and continuation."""
        return self.request.text if self.written is None else self.written

    @property
    def n_layers(self) -> int:
        return len(self.records)

    def origin(self, layer: int) -> LayerOrigin | None:
        """Which run of which module a layer is; None if every layer is a module of its own."""
        return self.origins[self._layer(layer)] if self.origins else None

    @property
    def n_heads(self) -> int:
        return max(record.q.shape[0] for record in self.records if record is not None)

    @property
    def n_kv_heads(self) -> int:
        return max(record.k.shape[0] for record in self.records if record is not None)

    @property
    def nbytes(self) -> int:
        """Bytes of this capture's tensors, including cached answers."""
        return sum(part.nbytes for part in self.parts)

    @property
    def parts(self) -> tuple[LayerRecord | Tensor, ...]:
        """The tensors that it holds, each once; another capture of the same forward has the same ones."""
        found: dict[int, LayerRecord | Tensor] = {}
        for one in (self, *self.others):
            records = [record for record in one.records if record is not None]
            held = [one.hidden, *one.residuals, *list(one._lse.values()), *list(one._logits.values())]
            held += [tensor for record in records for tensor in record.chosen]
            found |= {id(part): part for part in (*records, *held)}  # a decoder and its cross-attention share some
        return tuple(found.values())

    def layer_kind(self, layer: int) -> str:
        """The kind of token mixing in this layer: "full", "sliding", "chunked" or, without weights, "linear", "mamba",
        …
        """
        return self.kinds[self._layer(layer)]

    def has_weights(self, layer: int) -> bool:
        """True if this layer has a map: softmax attention, or a recurrence unrolled into a matrix."""
        return self.records[self._layer(layer)] is not None

    def record(self, layer: int) -> LayerRecord:
        """Everything stored of one layer. Raises NoWeights if it has no softmax attention, NoCompressedKeys."""
        layer = self._layer(layer)
        record = self.records[layer]
        if record is None and self.request.attention == COMPRESSED:
            raise NoCompressedKeys(layer=layer)
        if record is None:
            raise NoWeights(layer=layer, kind=self.kinds[layer])
        return record

    def q(self, layer: int) -> Float[Tensor, "heads queries d_head"]:
        """Queries as in attention, after the rotation."""
        return self.record(layer).q

    def k(self, layer: int) -> Float[Tensor, "kv_heads keys d_head"]:
        """Keys as in attention, after the rotation, not repeated for the query heads that share them."""
        return self.record(layer).k

    def v(self, layer: int) -> Float[Tensor, "kv_heads keys d_value"]:
        """Values, not repeated."""
        return self.record(layer).v

    def q_unrotated(self, layer: int) -> Float[Tensor, "heads queries d_head"]:
        """Queries before RoPE (after q-norm if the family has one), float32. Raises NotRecoverable, NoRotation."""
        return self._unrotated(layer, self.record(layer).q)

    def k_unrotated(self, layer: int) -> Float[Tensor, "kv_heads keys d_head"]:
        """Keys before RoPE (after k-norm if the family has one), float32. Raises NotRecoverable, NoRotation."""
        return self._unrotated(layer, self.record(layer).k)

    def scores(
        self, layer: int, head: int, *, queries: slice | None = None, keys: slice | None = None
    ) -> Float[Tensor, "queries keys"]:
        """Scores before the softmax: scaled, soft-capped, −inf where masked. O(tile) memory. Raises NoSoftmax."""
        record, head = self.record(layer), self._head(layer, head)
        self.check_softmax(layer, head)
        return record.scores(slice(head, head + 1), self._span(queries), self._span(keys, self.keys))[0]

    def weights(
        self,
        layer: int,
        head: int | None = None,
        *,
        queries: slice | None = None,
        keys: slice | None = None,
        shares: bool = False,
    ) -> Float[Tensor, "*heads queries keys"]:
        """Attention weights after the softmax, for any tile: the factors of the values.

        With ``head`` [queries, keys]; without it [heads, queries, keys], which raises WeightsExceedMemory if they would
        take more than half of the free memory.

        Rows sum to 1, with these exceptions: to less if a learned sink takes its share (which Granite's own
        ``output_attentions`` leave out), and if one softmax covers two texts of which this map shows one
        (``LayerRecord.rest_in``); without softmax to any value, and with ``shares`` the normalized magnitudes are
        returned. O(tile + ROWS × keys) memory.
        """
        if head is None:
            return self._every_head(self._layer(layer), self._span(queries), self._span(keys, self.keys), shares)
        record, queries, head = self.record(layer), self._span(queries), self._head(layer, head)
        heads, known = slice(head, head + 1), self._lse.get(self._layer(layer))
        lse = None if known is None else known[heads, queries]
        return record.weights(heads, queries, self._span(keys, self.keys), ROWS, lse, shares=shares)[0]

    def _every_head(self, layer: int, queries: slice, keys: slice, shares: bool) -> Float[Tensor, "heads queries keys"]:
        record, n_queries = self.record(layer), queries.stop - queries.start
        shape = record.q.shape[0], n_queries, keys.stop - keys.start
        needed, free = 4 * math.prod(shape), memory.available(record.q.device) // 2
        if needed > free:
            sizes = {"needed": memory.readable(needed), "free": memory.readable(free)}
            raise WeightsExceedMemory(layer=layer, **sizes)
        found = torch.empty(shape, device=record.q.device)
        for start in range(0, n_queries, ROWS):
            rows = slice(queries.start + start, min(queries.start + start + ROWS, queries.stop))
            found[:, start : start + ROWS] = self.layer_weights(layer, rows, shares=shares)[..., keys]
        return found

    def z(self, layer: int) -> Float[Tensor, "queries heads d_value"]:
        """The output of each head before the output projection, its weights times the values, in the model's dtype.

        For a head that the request edits, the edited output. Raises NoWeights.
        """
        return self.record(layer).head_output_edited

    def attention_out(self, layer: int) -> Float[Tensor, "tokens d_model"]:
        """What the layer's attention adds to the residual stream, float32; takes another forward over the text.

        This includes a factor on it and a norm after it (Gemma 2). Raises NotSeparable if the layer's parts cannot be
        separated, NoWeights for a layer without attention, AwayFromModel.
        """
        self.record(layer)
        return self._added(layer, "attention")

    def mlp_out(self, layer: int) -> Float[Tensor, "tokens d_model"]:
        """What the layer's feed-forward network adds, with all its experts. Raises NotSeparable, AwayFromModel."""
        return self._added(layer, "ffn")

    def _added(self, layer: int, part: Literal["attention", "ffn"]) -> Float[Tensor, "tokens d_model"]:
        if self.asked is None:
            raise AwayFromModel()
        return self.asked.submit(AddedByPart(self.request, self._layer(layer), part)).result()

    def lse(self, layer: int) -> Float[Tensor, "heads queries"]:
        """Natural log of the softmax denominators, including a sink; computed once, then cached (heads × queries).

        NaN for heads without softmax.
        """
        layer = self._layer(layer)
        if layer not in self._lse:
            record = self.record(layer)
            if record.unrolled is None:
                found = record.log_sum_exp(slice(0, record.q.shape[0]), self._span(None), ROWS)
                found[list(record.substituted)] = torch.nan
            else:
                found = record.q.new_full(record.q.shape[:2], torch.nan, dtype=torch.float32)
            self._lse[layer] = found
        return self._lse[layer]

    def layer_weights(self, layer: int, queries: slice, *, shares: bool = False) -> Float[Tensor, "heads queries keys"]:
        """The weights of every head for a block of queries; O(heads × queries × keys) memory, so call it in blocks.

        ``shares``: for substitutes of softmax, magnitudes normalized to rows that sum to 1.
        """
        record, queries = self.record(layer), self._span(queries)
        heads = slice(0, record.q.shape[0])
        few = queries.stop - queries.start <= FEW and self._layer(layer) not in self._lse
        # for a few rows, the denominators of the others may never be needed
        lse = None if few else self.lse(layer)[:, queries]
        return record.weights(heads, queries, self._span(None, self.keys), ROWS, lse, shares=shares)

    def has_indexer(self, layer: int) -> bool:
        """True if an indexer selects the keys of this layer's queries."""
        record = self.records[self._layer(layer)]
        return record is not None and bool(record.chosen)

    def chosen_keys(
        self, layer: int, *, queries: slice | None = None, keys: slice | None = None
    ) -> Bool[Tensor, "queries keys"]:
        """True for the visible keys that the layer's indexer selected for a query. Raises NoIndexer."""
        record = self._indexed(layer)
        tile = self._span(queries), self._span(keys, self.keys)
        return masks.tile(record.mask.own, *tile, device=record.q.device)

    def index_scores(
        self, layer: int, *, queries: slice | None = None, keys: slice | None = None
    ) -> Float[Tensor, "queries keys"]:
        """The scores by which the layer's indexer selects keys; −inf where the layer's mask hides the key.

        Float32, O(tile) memory. A layer without an indexer of its own has those of the layer whose selection it shares,
        see :meth:`choosing_layer`. Raises NoIndexer, NotUnderstood.
        """
        record, tile = self._indexed(layer), (self._span(queries), self._span(keys, self.keys))
        if record.choice is None:
            raise NotUnderstood(layer=self._layer(layer))
        before = masks.tile(record.mask.before_choice.own, *tile, device=record.q.device)
        return record.choice.scores(*tile).masked_fill(~before, -torch.inf)

    def choosing_layer(self, layer: int) -> int:
        """The layer whose indexer selected this one's keys: itself, unless layers share a selection.

        Raises NoIndexer.
        """
        choice, layer = self._indexed(layer).choice, self._layer(layer)
        return next(
            one
            for one, record in enumerate(self.records)
            if one == layer or (choice and record and record.choice and record.choice.indexer == choice.indexer)
        )

    def missed_share(self, layer: int, head: int, *, queries: slice | None = None) -> Float[Tensor, "queries"]:
        """The share of the unselected keys in each query's attention over all unmasked keys.

        Exact, from the recorded queries and keys, float32; a learned sink's share is part of the total. O(ROWS × keys)
        memory. Raises NoIndexer, NoSoftmax.
        """
        record, head, queries = self._indexed(layer), self._head(layer, head), self._span(queries)
        self.check_softmax(layer, head)
        heads, every = slice(head, head + 1), replace(record, mask=record.mask.before_choice)
        blocks = [slice(start, min(start + ROWS, queries.stop)) for start in range(queries.start, queries.stop, ROWS)]
        keys = self._span(None, self.keys)
        missed = [
            every.weights(heads, rows, keys, ROWS)[0]
            .masked_fill(record.mask.tile(rows, keys, record.q.device, head=head), 0.0)
            .sum(dim=-1)
            for rows in blocks
        ]
        return torch.cat(missed) if missed else record.q.new_zeros(0, dtype=torch.float32)

    def _indexed(self, layer: int) -> LayerRecord:
        if not self.has_indexer(layer):
            self.record(layer)  # raises NoWeights first
            raise NoIndexer(layer=self._layer(layer))
        return self.record(layer)

    def difference(
        self, layer: int, head: int, *, queries: slice | None = None, keys: slice | None = None
    ) -> Float[Tensor, "queries keys"]:
        """The factors of a pair of heads' values, in a model that subtracts one from the other: map 1 − λ·map 2.

        Rows sum to 1 − λ, and a weight may be negative. ``head`` is either of the pair. Raises NoDifference.
        """
        difference = self.record(layer).difference
        if difference is None:
            raise NoDifference(layer=self._layer(layer))
        first, second = (
            self.weights(layer, one, queries=queries, keys=keys) for one in difference.pair(self._head(layer, head))
        )
        return first - difference.factor * second

    def check_softmax(self, layer: int, head: int) -> None:
        """Raises NoSoftmax for a head whose softmax the request substituted, NoScores for one that never had any."""
        head = self._head(layer, head)
        self.check_attention(layer)
        if (edit := self.record(layer).substitute(head)) is not None:
            raise NoSoftmax(layer=self._layer(layer), head=head, variant=edit.label)

    def check_attention(self, layer: int) -> None:
        """Raises NoScores for a layer whose tokens are mixed by a recurrence instead of attention."""
        if (own := self.record(layer).unrolled) is not None:
            raise NoScores(layer=self._layer(layer), rule=Reason(own.label, {}))

    def residual(self, layer: int) -> Float[Tensor, "tokens d_stream"]:
        """The residual stream entering a layer; ``n_layers`` gives the last layer's output, before the final norm.

        ``d_model`` wide, except in models with several streams (Qwen4's hyper-connections), which are concatenated.
        """
        return self.residuals[index("layer", layer, self.n_layers + 1)]

    def logits(self, position: int = -1) -> Float[Tensor, "vocab"]:
        """The model's logits at one position (default: the last), float32. Raises NoLogits, AwayFromModel."""
        position = index("position", position, len(self.tokens))
        if position not in self._logits:
            self._logits[position] = self._ask(Logits(self.hidden[position : position + 1]))[0]
        return self._logits[position]

    def likely(self, position: int = -1, *, top: int) -> LikelyTokens:
        """The ``top`` tokens with the largest logits at one position (default: the last).

        For a remote capture only those are transferred, not the whole vocabulary. Raises NoLogits, AwayFromModel.
        """
        position = index("position", position, len(self.tokens))
        if is_away(self.hidden) and position not in self._logits and self.asked is not None:
            look = None if self.request.attention == COMPRESSED else self.request.attention
            return self.asked.submit(TopLogits(replace(self.request, attention=look), position, top)).result()
        logits = self.logits(position)
        best = logits.topk(min(top, len(logits)))
        return LikelyTokens(best.indices, best.values, float(logits.double().logsumexp(0)))

    def surprisals(self) -> Float[Tensor, "tokens_after_the_first"]:
        """−ln p of each token but the first, given those before it, in nats, float32; e^mean is the perplexity.

        Nothing of size tokens × vocabulary is stored. For causal models only, since an encoder sees the token itself.
        Raises NoLogits, AwayFromModel.
        """
        look = None if self.request.attention == COMPRESSED else self.request.attention
        return self._ask(Surprisals(replace(self.request, attention=look)))

    def direct_logits(self, layer: int, head: int, position: int) -> Float[Tensor, "vocab"]:
        """What a head's output at a position adds to the logits there on the direct path, float32.

        The final norm's statistics are fixed; the effect through later layers is left out. All heads, MLPs, the
        embedding and the biases together give the logits. Raises NoAttribution, NoWeights, NoLogits.
        """
        self._check_matrices()
        layer, head, position = (
            self._layer(layer),
            self._head(layer, head),
            index("position", position, len(self.tokens)),
        )
        output, stream = self.record(layer).head_output_edited[position, head], self.residuals[-1][position]
        return self._ask(DirectLogits(layer, head, output, stream, self.hidden[position]))

    def head_writes(self, layer: int, position: int) -> Float[Tensor, "heads d_model"]:
        """What each head adds to the residual stream at a position, through its part of W_O, float32.

        Their sum, with W_O's bias, is what attention adds. Raises NoAttribution, NoWeights.
        """
        self._check_matrices()
        layer, position = self._layer(layer), index("position", position, len(self.tokens))
        return self._ask(HeadWrites(layer, self.record(layer).head_output_edited[position]))

    def verify(self, layer: int) -> Check:
        """Recompute this layer's output from the weights and compare it with the model's own, within rounding.

        For a text of more than 1,024 tokens only a sample of rows, whose number the check states: all would take longer
        than the capture.
        """
        record = self.record(layer)
        away = any(map(is_away, (record.q, record.k, record.v, record.output)))
        if away and self.asked is not None and self.request.attention != COMPRESSED:
            if not any(map(is_away, (record.q, record.k))):
                self.lse(layer)  # as a local check would, for weights that are needed next
            return self.asked.submit(VerifyLayer(self.request, self._layer(layer))).result()
        every_row = len(rows_checked(len(self.tokens))) == 1
        lse = self.lse(layer) if every_row else self._lse.get(self._layer(layer))
        return verification.verify(record, lse, ROWS)

    def _ask(self, question: Question[Tensor]) -> Tensor:
        if self.request.attention == "encoder":
            raise EncoderSaysNothing()
        if self.asked is None:
            raise AwayFromModel()
        return self.asked.submit(question).result()

    def _check_matrices(self) -> None:
        if any(isinstance(edit, ScaledSingulars) for edit in self.request.edits):
            raise NoAttribution(reason=CHANGED)

    def _unrotated(self, layer: int, x: Tensor) -> Tensor:
        rotation = self.record(layer).rotation
        if rotation is None:
            raise NoRotation(layer=self._layer(layer))
        if isinstance(rotation, str):
            raise NotRecoverable(layer=self._layer(layer), reason=rotation)
        return rotation.unrotate(x)

    def _layer(self, layer: int) -> int:
        return index("layer", layer, self.n_layers)

    def _head(self, layer: int, head: int) -> int:
        return index("head", head, self.record(layer).q.shape[0])

    def _span(self, positions: slice | None, tokens: tuple[Token, ...] | None = None) -> slice:
        start, stop, step = (positions or slice(None)).indices(len(self.tokens if tokens is None else tokens))
        if step != 1:
            raise ValueError("tiles are contiguous: a slice with a step is not one")
        return slice(start, max(start, stop))


def index(what: str, value: int, count: int) -> int:
    """Convert a Python index to a non-negative one. Raises NoSuchPlace."""
    value = operator.index(value)
    if not -count <= value < count:
        raise NoSuchPlace(what=what, value=value, count=count)
    return value % count
