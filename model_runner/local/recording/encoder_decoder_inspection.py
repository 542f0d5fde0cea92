"""Finds an encoder–decoder's two stacks and its three kinds of attention by running a few tokens.

The source and the target differ in length, so the shapes of an attention call's inputs tell which of the three it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig
from transformers.modeling_outputs import BaseModelOutput

from model_runner.edits import ATTENTIONS
from model_runner.errors import N_, NotCapturable, Reason, first_line
from model_runner.local.answers.position_table import PROBED, looked_up_at_load
from model_runner.local.classifier import is_classifier
from model_runner.local.encoder_input import EncoderInput
from model_runner.local.recording.block_sparse import as_a_whole, hook_block_sparse
from model_runner.local.recording.forward_edit import EditShape
from model_runner.local.recording.global_tokens import count_globals, hook_global_tokens
from model_runner.local.recording.legacy_attention import prove, trace_legacy_attention
from model_runner.local.recording.merged_attention import MERGED
from model_runner.local.recording.mismatch_reason import CHANGES
from model_runner.local.recording.model_inspection import (
    NOT_ASKED,
    NUMBERED,
    READS_ELSE,
    Backbone,
    declared_lengths,
    last_states,
)
from model_runner.local.recording.parity_check import of_numbers, said, same, text_config, tried
from model_runner.local.recording.recorder import (
    ATTENDS_AGAIN,
    EAGER_MASKS,
    WHOLE_MASKS,
    ActivationRecorder,
    CannotRecord,
    install_recorder,
    record_with,
)
from model_runner.record import LayerRecord
from model_runner.runner import ModelInfo

SOURCE, TARGET = 7, 5  # tokens of the two texts with which the model is probed at load
DOES_NOT_RUN = N_("it does not run on two texts alone ({error})")
OTHER_ENCODER = N_("its encoder attends by code of its own, and only what its decoder does was recognised")
OTHER_DECODER = N_("its decoder attends by code of its own, and only what its encoder does was recognised")
NO_CROSS = N_("no layer of its decoder was seen to look at what its encoder reads")
TWO_VOCABULARIES = N_(
    "its encoder reads {reads} different tokens and its decoder writes {writes}, and one tokenizer cannot name both"
)
HANDS_ON_SCORES = N_("its decoder returns the scores of tokens, not the last hidden state that they come from")
OTHER_PLACES = N_("its attention is not that of one encoder stack and one decoder stack")


@dataclass(frozen=True, eq=False)
class Stack:
    """Layers with the names of their attention modules: self-attention, and cross-attention to the source."""

    layers: tuple[nn.Module, ...]
    own: tuple[str, ...]
    cross: tuple[str, ...]
    heads: tuple[tuple[int, int], ...]  # for both: query heads, and key/value heads


@dataclass(frozen=True, eq=False)
class EncoderDecoderStructure:
    """``start`` is the token that precedes everything the decoder writes."""

    encoder: Stack
    decoder: Stack
    names: dict[int, str]  # id of a module -> qualified name
    start: int
    n_heads: int
    n_kv_heads: int
    bytes_per_token: float  # upper bound, for a source or a target token
    backbone: Backbone  # its last hidden state is the decoder's
    legacy: bool  # its attention does not use transformers' attention interface
    legacy_encoder: bool  # nor does that of its encoder
    read_width: int  # width of the encoder's output for a token
    n_globals: int  # the encoder's own tokens, which come after those of the source

    @property
    def layers(self) -> tuple[nn.Module, ...]:
        """The decoder's layers."""
        return self.decoder.layers

    def stack(self, attention: str) -> Stack:
        """The stack whose tokens are the queries."""
        return self.encoder if attention == "encoder" else self.decoder

    def attends(self, attention: str) -> tuple[str, ...]:
        """The names of the modules of this attention, by layer."""
        return self.decoder.cross if attention == "cross" else self.stack(attention).own

    @property
    def shapes(self) -> dict[str, EditShape]:
        """What edits of each attention must fit."""
        found: dict[str, EditShape] = {}
        for attention in ATTENTIONS:
            names, stack = self.attends(attention), self.stack(attention)
            found[attention] = EditShape(
                dict(enumerate(names)), ("full",) * len(names), *stack.heads[attention == "cross"]
            )
        return found


def inspect_encoder_decoder(model: Any, name: str, sound: EncoderInput | None = None) -> EncoderDecoderStructure:
    """Install the recording and probe the model, with ``sound`` if it reads audio. Raises NotCapturable."""
    try:
        return _examine(model, sound)
    except CannotRecord as error:
        raise NotCapturable(name=name, family=str(model.config.model_type), reason=error.reason) from error


def _examine(model: Any, sound: EncoderInput | None) -> EncoderDecoderStructure:
    asks, in_blocks = model._can_set_attn_implementation(), False  # transformers' attention interface
    if sound is None:
        _check_vocabularies(model)
    start = start_token(model)
    given, written = probe_texts(model, sound)
    source, target = SOURCE if sound is None else len(sound), written.shape[1]
    n_globals = count_globals(model)
    # a classification head needs two equal texts
    whole, model = model, model.base_model if is_classifier(model) else model

    def forward() -> Any:
        return run_both(model, given, written)

    across = getattr(text_config(model), "add_cross_attention", None)  # some decoders of a pair raise without it
    with tried(NO_CROSS if across is False else DOES_NOT_RUN):
        answer = forward()
        plain, width = of_numbers(said(answer)), answer.encoder_last_hidden_state.shape[-1]
        try:
            if asks:
                install_recorder(model)
                as_a_whole(model)
                # then only the decoder uses the interface
                in_blocks = hook_block_sparse(model) | hook_global_tokens(model)
            else:
                trace_legacy_attention(model, forward)
        except (NotImplementedError, ImportError) as error:
            raise CannotRecord(first_line(error)) from error
    names = {id(module): qualified for qualified, module in whole.named_modules()}
    recording = ActivationRecorder(names)
    backbone, output = _backbone(model, given, written, recording)
    for masks in (WHOLE_MASKS, EAGER_MASKS):
        if asks and not same(output, plain):
            model.set_attn_implementation(masks)
            recording = ActivationRecorder(names)
            backbone, output = _backbone(model, given, written, recording)
    if not recording.records:
        raise CannotRecord(NOT_ASKED)
    encoder, decoder = _stacks(whole, recording.records, source, target, n_globals)
    if not same(output, plain):
        raise CannotRecord(CHANGES)
    for stack, count in ((encoder, source), (decoder, target)):
        every = [recording.records[name] for name in (*stack.own, *stack.cross)]
        if not asks or (in_blocks and stack is encoder):
            prove(every, stack.layers, count, forward, n_globals if stack is encoder else 0)
    if any(recording.records[name].rest_in for name in decoder.cross):
        _prove_read(model, given, written, recording, decoder)
    states = (width * plain.itemsize, text_config(model).hidden_size * plain.itemsize)
    stored = _stored(recording.records, (source, source + n_globals), states, (encoder, decoder))
    return EncoderDecoderStructure(
        encoder,
        decoder,
        names,
        start,
        *decoder.heads[0],
        stored,
        backbone,
        legacy=not asks,
        legacy_encoder=in_blocks,
        read_width=width,
        n_globals=n_globals,
    )


def _prove_read(
    model: Any, given: Mapping[str, Tensor], written: Tensor, recording: ActivationRecorder, decoder: Stack
) -> None:
    """Raises CannotRecord if, in a softmax over two texts, keys taken for source keys depend on the target."""
    with record_with(again := ActivationRecorder(recording.names)), tried(DOES_NOT_RUN):
        run_both(model, given, written.flip(1))
    for own, cross in zip(decoder.own, decoder.cross, strict=True):
        before, after = ([one.records[name] for name in (own, cross)] for one in (recording, again))
        if not same(after[1].k, before[1].k) or not same(after[1].v, before[1].v) or same(after[0].v, before[0].v):
            raise CannotRecord(MERGED)


def _check_vocabularies(model: Any) -> None:
    """Raises CannotRecord if the two texts have different vocabularies, since a model has one tokenizer."""
    table, writes = model.get_input_embeddings(), text_config(model).vocab_size
    reads = table.num_embeddings if isinstance(table, nn.Embedding) else writes
    if reads != writes:
        raise CannotRecord(Reason(TWO_VOCABULARIES, {"reads": reads, "writes": writes}))


def probe_texts(model: Any, sound: EncoderInput | None) -> tuple[Mapping[str, Tensor], Tensor]:
    """The source and the target with which a model is probed, of different lengths. Raises CannotRecord."""
    start = start_token(model)
    n_vocab, pad = text_config(model).vocab_size, text_config(model).pad_token_id
    some = [token for token in range(SOURCE + 1) if token != pad]  # tokens that look like padding may be masked
    given = (
        {"input_ids": torch.tensor([some[:SOURCE]], device=model.device) % n_vocab} if sound is None else sound.given
    )
    source = SOURCE if sound is None else len(sound)
    target = TARGET if source != TARGET else TARGET - 1
    written = torch.tensor([[start, *some[: target - 1]]], device=model.device) % n_vocab
    return given, written


def _stored(
    records: Mapping[str, LayerRecord],
    lengths: tuple[int, ...],
    states: tuple[int, int],
    stacks: tuple[Stack, Stack],
) -> float:
    """Upper bound of the bytes of a source or a target token; ``states`` are the bytes of one in each stream.

    ``lengths`` are those of the source, without and with the encoder's own tokens.
    """
    read, written = (float(state * (len(stack.layers) + 2)) for state, stack in zip(states, stacks, strict=True))
    for record in records.values():
        for one, more in ((record.q, record.output), (record.k, record.v)):
            stored = (one.nbytes + more.nbytes) / one.shape[1]
            read, written = (read + stored, written) if one.shape[1] in lengths else (read, written + stored)
    return max(read, written)


class AlreadyRead(BaseModelOutput):
    """The encoder's output in the form that any family's decoder takes; Switch also needs the router logits."""

    router_logits: Any = None


def start_token(model: Any) -> int:
    """The first token of the decoder. Raises CannotRecord if the model does not name one."""
    for settings in (getattr(model, "generation_config", model.config), text_config(model), model.config):
        for name in ("decoder_start_token_id", "bos_token_id"):
            if isinstance(found := getattr(settings, name, None), int):
                return found
    raise CannotRecord(N_("its configuration does not say with which token the decoder begins"))


def two_lengths(info: ModelInfo, model: Any, sound: EncoderInput | None) -> ModelInfo:
    """The same info, with as many source and target tokens as the model has position vectors for."""
    read, written = (torch.full((1, count), info.n_vocab // 2, device=model.device) for count in (PROBED + 1, PROBED))
    given = {"input_ids": read} if sound is None else sound.given
    found = looked_up_at_load(model, lambda: run_both(model, given, written))
    reads, writes = (
        [count for table, count in found if any(table is one for one in stack.parameters())]
        for stack in (model.get_encoder(), model.get_decoder())
    )
    known = [] if info.unbounded else [info.max_tokens]  # without a table, the tokenizer's limit applies
    own = getattr(model.config, "encoder", None)  # for a pair
    read_by = declared_lengths(own) if isinstance(own, PreTrainedConfig) else known
    max_tokens, max_written = (
        min([*one, *counts] or [info.max_tokens]) for one, counts in ((read_by, reads), (known, writes))
    )
    unbounded = not reads and not read_by
    return replace(info, max_tokens=max_tokens, max_written=max_written, unbounded=unbounded)


def run_both(model: Any, given: Mapping[str, Any], written: Tensor) -> Any:
    """Run one forward over both, without a cache; ``given`` is the source, or ``encoder_outputs`` made from it."""
    with torch.no_grad():
        return model(**given, decoder_input_ids=written, use_cache=False, return_dict=True)


def _backbone(
    model: Any, given: Mapping[str, Any], written: Tensor, recording: ActivationRecorder
) -> tuple[Backbone, Tensor]:
    """The last module to return the decoder's last hidden state without logits; and the recorded logits."""
    with last_states(model) as finished, record_with(recording), tried(DOES_NOT_RUN):
        answer = said(run_both(model, given, written))
    length = written.shape[1]
    of_decoder = [(module, output) for module, output in finished if output.last_hidden_state.shape[1] == length]
    if not of_decoder:
        raise CannotRecord(READS_ELSE)
    module, output = of_decoder[-1]
    if output.last_hidden_state.shape[-1] != text_config(model).hidden_size:  # FSMT's decoder includes the output layer
        raise CannotRecord(HANDS_ON_SCORES)
    return Backbone(module, type(output), has_head=True), answer


def _stacks(
    model: Any, records: dict[str, LayerRecord], source: int, target: int, n_globals: int
) -> tuple[Stack, Stack]:
    """Raises CannotRecord if some layer lacks an attention that the others have."""
    found: dict[tuple[int, int], dict[str, dict[int, str]]] = {}
    for qualified, record in records.items():
        place = NUMBERED.match(qualified)
        if place is None:
            raise CannotRecord(OTHER_PLACES)
        layers = found.setdefault((record.q.shape[1], record.k.shape[1]), {}).setdefault(place[1], {})
        if layers.setdefault(int(place[2]), qualified) != qualified:
            raise CannotRecord(ATTENDS_AGAIN)
    read = source + n_globals
    kinds = [found.get(shape, {}) for shape in ((read, read), (target, target), (target, source))]
    if kinds[1] and not kinds[0]:
        raise CannotRecord(OTHER_ENCODER)
    if any(queries == target and keys == source + target for queries, keys in found):  # as in T5Gemma 2
        raise CannotRecord(MERGED)
    if len(found) == 1 and kinds[0]:
        raise CannotRecord(OTHER_DECODER)
    if kinds[1] and not kinds[2]:  # a decoder of a pair that was built without add_cross_attention
        raise CannotRecord(NO_CROSS)
    if len(found) != 3 or any(len(stacks) != 1 for stacks in kinds):
        raise CannotRecord(OTHER_PLACES)
    (encoder, reads), (decoder, writes), (crosses, looks) = (next(iter(stacks.items())) for stacks in kinds)
    modules = [tuple(model.get_submodule(stack)) for stack in (encoder, decoder)]
    whole = [list(range(len(stack))) for stack in modules]
    if decoder != crosses or [sorted(layers) for layers in (reads, writes, looks)] != [*whole, whole[1]]:
        raise CannotRecord(OTHER_PLACES)
    of_encoder, of_decoder = modules
    named = [tuple(layers[layer] for layer in sorted(layers)) for layers in (reads, writes, looks)]
    heads = [(len(records[names[0]].q), len(records[names[0]].k)) for names in named]
    return Stack(of_encoder, named[0], (), (heads[0],)), Stack(of_decoder, named[1], named[2], (heads[1], heads[2]))
