"""Finds a model's layers and its attention modules by running a few tokens through it."""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from model_runner.errors import N_, NotCapturable, first_line
from model_runner.layer_origin import LayerOrigin
from model_runner.local.cancellation import pause
from model_runner.local.fingerprint import weights_fingerprint
from model_runner.local.loading.devices import devices_of
from model_runner.local.loading.dtypes import precision_of
from model_runner.local.loading.folder_tokenizer import info_of
from model_runner.local.recording.forward_edit import ForwardEdit
from model_runner.local.recording.head_pairs import head_pairs
from model_runner.local.recording.layer_order import attention_calls, layers_in_order
from model_runner.local.recording.legacy_attention import BY_EINSUM, NO_PRODUCTS, prove, trace_legacy_attention
from model_runner.local.recording.lsh_attention import settle_hashes
from model_runner.local.recording.mismatch_reason import CHANGES
from model_runner.local.recording.parity_check import plain_forward, run, said, same, text_config
from model_runner.local.recording.recorder import (
    EAGER_MASKS,
    WHOLE_MASKS,
    ActivationRecorder,
    AttentionCalls,
    CannotRecord,
    hook_joined,
    install_recorder,
    install_scans,
    module_of_call,
    record_with,
)
from model_runner.local.recording.residual_stream import Rows, Take, watched
from model_runner.local.recording.rope_switch import dynamic_reach
from model_runner.local.recording.scans import mixers_of
from model_runner.local.recording.step_consumer import StepConsumer
from model_runner.mask_rule import MaskRule
from model_runner.runner import ModelInfo

PROBE_TOKENS = 4
INT32 = 4  # bytes
UNBOUNDED = 10**30  # tokens; transformers' value for a tokenizer that names no length
SHORT_TEXT = 16  # tokens that run through the model twice at load: with transformers' own attention, and recorded
READS_ELSE = N_("its output layer reads something else than the last hidden state")
MORE_KEYS = N_(
    "beside the keys of its tokens, its queries read keys that each mix several tokens, and a map of tokens has no "
    "columns for them"
)
NOT_ASKED = N_("none of its layers uses transformers' attention interface for softmax attention")
RECURRENT = N_("recurrent")  # the kind of a layer whose recurrence is shown
LENGTHS = ("max_position_embeddings", "max_target_positions", "max_seq_len")  # the last is MPT's
NUMBERED = re.compile(r"^(.*?)\.(\d+)(\.|$)")  # "model.layers.3.self_attn" -> "model.layers", 3


@dataclass(frozen=True, eq=False)
class ModelStructure:
    """The layers, which of them have attention, and what kind the others are."""

    layers: tuple[nn.Module, ...]  # a module that runs several times is listed as often
    attention: dict[int, str]  # layer -> the key of its attention call; for a first call, the module's name
    kinds: tuple[str, ...]
    names: dict[int, str]  # id of a module -> qualified name
    n_heads: int
    n_kv_heads: int
    bytes_per_token: float
    backbone: Backbone
    legacy: bool = False  # its attention does not use transformers' attention interface
    calls: AttentionCalls = field(default_factory=AttentionCalls)  # for modules that attend more than once in a forward
    # see OrderedLayers, also for the fields below
    begins: Mapping[int, nn.Module] = field(default_factory=dict[int, nn.Module])
    origins: tuple[LayerOrigin, ...] = ()
    breaks: frozenset[int] = frozenset()
    recurrent: bool = False  # its layers have no attention, but recurrences that are written out as matrices

    def recording(
        self,
        *,
        keep: Callable[[Tensor], Tensor] = torch.clone,
        consumer: StepConsumer | None = None,
        known: dict[str, MaskRule] | None = None,
        keeps: bool = True,
        whole_masks: bool = False,
        edit: ForwardEdit | None = None,
        lengths: tuple[int, ...] = (),
    ) -> ActivationRecorder:
        """A recorder for a forward of this model; the arguments are those of :class:`ActivationRecorder`."""
        return ActivationRecorder(
            self.names, self.calls, keep, consumer, {} if known is None else known, keeps, whole_masks, edit, lengths
        )

    def watched(
        self, take: Take, leave: Take | None = None, rows: Rows | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """Observe the residual stream of a forward at its layers, see
        :func:`model_runner.local.recording.residual_stream.watched`.
        """
        return watched(self.layers, take, self.begins, leave, rows)

    def attention_in(self, layer: int) -> str | None:
        """The name of a layer's attention module relative to the layer; None without attention."""
        key = self.attention.get(layer)
        return key and module_of_call(key).removeprefix(f"{self.names[id(self.layers[layer])]}.")

    @property
    def shared(self) -> frozenset[nn.Module]:
        """Modules that belong to several layers, or to parts of several."""
        return frozenset(module for module, count in Counter(self.layers).items() if count > 1)


@dataclass(frozen=True, eq=False)
class Backbone:
    """The module whose last hidden state the model's output layer reads; the model itself if it has no output layer.

    Usually that is ``model.base_model``, but OPT's output layer calls its decoder directly, and transformers 5.23 takes
    Llama 4's text model for its own base.
    """

    module: nn.Module
    output: Callable[..., Any]  # the class of its output
    has_head: bool


def inspect_model(model: Any, name: str) -> ModelStructure:
    """Install the recording and probe the model. Raises NotCapturable with the reason."""
    try:
        return _examine(model)
    except CannotRecord as error:
        raise NotCapturable(name=name, family=str(model.config.model_type), reason=error.reason) from error


def _examine(model: Any) -> ModelStructure:
    if mixers_of(model):
        return _examine_scans(model)
    own, ids = text_config(model), probe_tokens(model)
    recording, backbone, width, asks = _proved(model, ids)
    calls, recording = _calls(model, ids, recording)
    records, names = recording.records, recording.names
    begins, origins, breaks = dict[int, nn.Module](), (), frozenset[int]()
    if (found := _stack(model, records)) is not None:
        layers, attention = found
    else:
        again = ActivationRecorder(names, calls=calls)
        again.records |= records
        ordered = layers_in_order(model, again, lambda: run(model, ids), ids.shape[1])
        layers, attention, begins = ordered.modules, ordered.attention, ordered.begins
        origins, breaks = ordered.origins, ordered.breaks
    if not asks:
        prove(records.values(), layers, ids.shape[1], lambda: run(model, ids))
    for layer, module in enumerate(layers):
        if layer not in attention:  # attention modules use the interface themselves
            module.register_forward_pre_hook(lambda *_: pause())
    stream = width * (len(layers) + 2)
    kept = sum(record.nbytes for record in (*records.values(), *recording.compressed.values()))
    stored = kept / ids.shape[1] + stream + _chosen_bytes(recording)
    windows = {layer: records[qualified].window for layer, qualified in attention.items()}
    first = records[attention[min(attention)]]
    if not any(windows.values()) and any(getattr(one, "sliding_window", None) for one in _by_layer(own)):
        windows = _masked_windows(model, ids, attention, ActivationRecorder(names, calls, whole_masks=True))
    kinds = _kinds(own, len(layers), windows)
    heads = len(first.q), len(first.k)
    return ModelStructure(
        layers, attention, kinds, names, *heads, stored, backbone, not asks, calls, begins, origins, breaks
    )


def _examine_scans(model: Any) -> ModelStructure:
    """Inspect a model whose layers have a recurrence each and no attention. Raises CannotRecord."""
    ids, names = probe_tokens(model), {id(module): qualified for qualified, module in model.named_modules()}
    plain = plain_forward(model, ids)
    install_scans(model)
    recording = ActivationRecorder(names)
    with record_with(recording):
        backbone, width, recorded = _backbone(model, ids)
    records = recording.records
    stack = _stack(model, records)
    if stack is None or len(stack[1]) != len(stack[0]):
        raise CannotRecord(NOT_ASKED)
    layers, attention = stack
    if not torch.equal(recorded, plain):
        raise CannotRecord(CHANGES)
    prove(records.values(), layers, ids.shape[1], lambda: run(model, ids))
    n_heads, stream = len(records[attention[0]].q), width * (len(layers) + 2)
    stored = sum(record.nbytes for record in records.values()) / ids.shape[1] + stream
    return ModelStructure(
        layers, attention, (RECURRENT,) * len(layers), names, n_heads, n_heads, stored, backbone, recurrent=True
    )


def _proved(model: Any, ids: Tensor) -> tuple[ActivationRecorder, Backbone, int, bool]:
    """A recording proven not to change the output, the backbone and its width, and whether modules use the interface.

    Otherwise their own code is traced. Raises CannotRecord.
    """
    asks, before = model._can_set_attn_implementation(), model.config._attn_implementation
    settle_hashes(model)
    try:
        plain = plain_forward(model, ids)
        if asks:
            install_recorder(model)
        else:
            trace_legacy_attention(model, lambda: run(model, ids))
    except (ValueError, NotImplementedError, ImportError) as error:
        raise CannotRecord(first_line(error)) from error
    # Only now: BigBird's first forward of a short text puts other modules in the place of its sparse ones.
    names = {id(module): qualified for qualified, module in model.named_modules()}

    def record() -> tuple[ActivationRecorder, Backbone, int, Tensor]:
        recording = ActivationRecorder(names, calls=None)
        with record_with(recording):
            return recording, *_backbone(model, ids)

    recording, backbone, width, recorded = record()
    # transformers 5.23 decides by source file: in GIT's, only the image encoder uses the interface
    if asks and not recording.records:
        asks = False
        _watch_instead(model, ids, before)
        recording, backbone, width, recorded = record()
    if not recording.records:
        raise CannotRecord(NOT_ASKED)
    for masks in (WHOLE_MASKS, EAGER_MASKS):
        if asks and not same(recorded, plain):
            model.set_attn_implementation(masks)
            recording, backbone, width, recorded = record()
    if asks and any(one.k.shape[1] > ids.shape[1] for one in recording.records.values()):
        raise CannotRecord(MORE_KEYS)
    if not same(recorded, plain):
        raise CannotRecord(CHANGES)
    return recording, backbone, width, asks


def _calls(model: Any, ids: Tensor, recording: ActivationRecorder) -> tuple[AttentionCalls, ActivationRecorder]:
    """How often each module attends, and the recording by its calls."""
    calls = attention_calls(recording)
    if not calls.parts:
        return calls, recording
    by_call = ActivationRecorder(recording.names, calls=calls)
    with record_with(by_call):
        pairs = head_pairs(model, by_call.records, calls.parts, lambda: run(model, ids))
    calls = replace(calls, pairs=pairs)
    hook_joined(pairs)
    by_call = ActivationRecorder(recording.names, calls=calls)
    with record_with(by_call):
        run(model, ids)
    return calls, by_call


def _chosen_bytes(recording: ActivationRecorder) -> float:
    """Bytes kept per token for the indexers: the indices of the chosen keys, and how they were chosen."""
    choices = {one.choice.indexer: one.choice for one in recording.records.values() if one.choice is not None}
    return math.fsum(choice.nbytes / len(choice.q) + INT32 * choice.top_k for choice in choices.values())


def probe_tokens(model: Any) -> Tensor:
    """The tokens with which a model is probed at load, ``[1, tokens]``."""
    own = text_config(model)
    length = min([SHORT_TEXT, *declared_lengths(own)])
    return torch.arange(length, device=model.device)[None] % own.vocab_size


def _watch_instead(model: Any, ids: Tensor, before: str) -> None:
    """Trace the model's own code, with ``before`` as the attention implementation it came with. Raises CannotRecord."""
    model.set_attn_implementation(before)
    try:
        trace_legacy_attention(model, lambda: run(model, ids))
    except CannotRecord as error:
        raise CannotRecord(NOT_ASKED if error.reason in (NO_PRODUCTS, BY_EINSUM) else error.reason) from error


def _by_layer(config: Any) -> Sequence[Any]:
    """Configurations by layer, or the one of all layers; one that differs by layer refuses access as a whole."""
    return config.per_layer_config if getattr(config, "per_layer_attributes", None) else (config,)


def _stack(model: Any, records: Mapping[str, Any]) -> tuple[tuple[nn.Module, ...], dict[int, str]] | None:
    """The layers, and the name of each one's attention module among the recorded ones.

    None unless they form one numbered stack whose layers attend once each.
    """
    places = {qualified: NUMBERED.match(qualified) for qualified in records}
    stacks = {place[1] for place in places.values() if place is not None}
    attention = {int(place[2]): qualified for qualified, place in places.items() if place is not None}
    if len(stacks) != 1 or len(attention) != len(records) or any(module_of_call(key) != key for key in records):
        return None
    return tuple(model.get_submodule(stacks.pop())), attention


def declared_lengths(config: Any) -> list[int]:
    """The maximum text lengths in tokens that a configuration declares; XLNet's −1 means no limit."""
    said = (getattr(config, name, None) for name in LENGTHS)
    return [length for length in said if isinstance(length, int) and length > 0]


def describe(
    model: Any, tokenizer: Any, structure: Any, name: str, revision: str | None, learned: Iterable[int] = ()
) -> ModelInfo:
    """The info of this model under this name; ``structure`` has its layers and head counts.

    ``learned`` are the numbers of positions it has vectors for, which may be fewer than its configuration says.
    """
    config = text_config(model)
    reach = dynamic_reach(config)
    own = [*(declared_lengths(config) if reach is None else [reach]), *learned]
    longest = int(min(own or [_tokenizers_length(tokenizer)]))
    return ModelInfo(
        name=name,
        revision=revision,
        family=str(model.config.model_type),
        dtype=precision_of(model),
        device=devices_of(model),
        n_layers=len(structure.layers),
        n_heads=structure.n_heads,
        n_kv_heads=structure.n_kv_heads,
        n_parameters=model.num_parameters(),
        n_vocab=config.vocab_size,
        max_tokens=longest,
        unbounded=not own,
        tokenizer=info_of(tokenizer),
        weights=weights_fingerprint(model),
    )


def _tokenizers_length(tokenizer: Any) -> int | float:
    """The limit in its tokenizer's files, for a model that any length fits."""
    length = tokenizer.model_max_length
    return length if isinstance(length, int | float) and length >= 1 else UNBOUNDED


def _backbone(model: Any, ids: Tensor) -> tuple[Backbone, int, Tensor]:
    """The last module to return a last hidden state without logits, the bytes of one such state, and the model's
    output.
    """
    with last_states(model) as finished:
        answer = said(run(model, ids))
    if not finished:
        raise CannotRecord(READS_ELSE)
    module, output = finished[-1]
    backbone = Backbone(module, type(output), has_head=module is not model)
    return backbone, output.last_hidden_state[0, 0].nbytes, answer


@contextlib.contextmanager
def last_states(model: nn.Module) -> Generator[list[tuple[nn.Module, Any]]]:
    """The modules that return a last hidden state without logits, each with its output, in order."""
    finished: list[tuple[nn.Module, Any]] = []

    def watch(module: nn.Module, _: Any, output: Any) -> None:
        hidden, logits = (getattr(output, name, None) for name in ("last_hidden_state", "logits"))
        if torch.is_tensor(hidden) and not torch.is_tensor(logits):  # Moshi's own output has both
            finished.append((module, output))

    hooks = [module.register_forward_hook(watch) for module in model.modules()]
    try:
        yield finished
    finally:
        for hook in hooks:
            hook.remove()


def _masked_windows(
    model: Any, ids: Tensor, attention: dict[int, str], recording: ActivationRecorder
) -> dict[int, int | None]:
    """How far back each layer attends by its mask, which for PhiMoE is the only source."""
    with record_with(recording):
        run(model, ids)
    return {layer: recording.records[qualified].window for layer, qualified in attention.items()}


def _kinds(config: Any, n_layers: int, windows: dict[int, int | None]) -> tuple[str, ...]:
    """One word per layer, from the configuration or from the arguments of attention."""
    declared = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None) or ()
    kinds = []
    for layer in range(n_layers):
        if layer in windows:
            word = str(declared[layer]).removesuffix("_attention") if len(declared) == n_layers else ""
            known = word if word in ("full", "sliding", "chunked") else ""
            kinds.append(known or ("sliding" if windows[layer] else "full"))
        else:
            kinds.append(
                str(declared[layer]).removesuffix("_attention") if len(declared) == n_layers else N_("no attention")
            )
    return tuple(kinds)
