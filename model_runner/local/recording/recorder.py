"""Records every layer's q, k and v with an attention function that is registered with transformers.

The function computes nothing itself: it delegates to transformers' scaled_dot_product_attention path or, where that
path cannot express the layer (soft-cap, sinks), to the modeling module's own eager function, one block of query rows at
a time. While an :class:`ActivationRecorder` is active in this context, the function also keeps the inputs and outputs.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, causal_mask_function, sdpa_mask

from attention.masks import chosen_of, window_of
from model_runner.capture import COMPRESSED, TOKENS
from model_runner.errors import N_, EditNotPossible
from model_runner.head_difference import HeadDifference
from model_runner.key_choice import KeyChoice
from model_runner.layer_edit import LayerEdit
from model_runner.local.cancellation import pause
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.local.recording.changed_matrices import added
from model_runner.local.recording.chunked_eager import chunked_eager
from model_runner.local.recording.compressed_keys import (
    GROWING,
    TURNED_BY_BLOCK,
    compression_of,
    edit_of_entries,
    rule_of_entries,
    watch_compressors,
)
from model_runner.local.recording.compressed_keys import OF_BOTH as COMPRESSED_TOO
from model_runner.local.recording.edited_mask import masked
from model_runner.local.recording.forward_edit import ForwardEdit
from model_runner.local.recording.head_pairs import HeadPairs
from model_runner.local.recording.indexer import (
    IndexerChoice,
    NewlyChosen,
    choosing,
    chosen_cells,
    hook_indexers,
    narrowed,
    newly_chosen,
)
from model_runner.local.recording.mask_parsing import rule_of, rule_of_cells
from model_runner.local.recording.merged_attention import MERGED, READ_UNTURNED, MergedCall, MergedPart, hook_merged
from model_runner.local.recording.rotary_hooks import InferredRotation, RotaryCall, find_rotation, hook_rotary
from model_runner.local.recording.scans import hook_scans
from model_runner.local.recording.step_consumer import StepConsumer
from model_runner.local.recording.to_device import cells_of, same_cells, to_device
from model_runner.local.recording.token_made_bias import (
    OTHER_BIAS,
    OTHER_MASK,
    MadeBias,
    check_edit,
    hook_made_biases,
    key_bias,
    profile_bias,
    several,
    sharpened,
)
from model_runner.local.recording.token_rows import NONE, TokenRows, rows_of
from model_runner.mask_rule import CAUSAL, FULL, MaskRule
from model_runner.record import LayerRecord
from model_runner.relative_bias import RelativeBias, relative
from model_runner.rotary import Rotation

V = TypeVar("V")
NAME = "attention_atlas"  # must not contain sdpa, flex_attention or flash, nor look like owner/name
WHOLE_MASKS = "attention_atlas_whole_masks"  # for models that are causal only by the mask they are given
IN_SCORES = ("softcap", "s_aux", "sinks", "position_bias", "indices")  # arguments that make scores more than products
BY_QUERY = ("position_bias", "sinks")  # arguments of attention that may have a row per query
EAGER_MASKS = "attention_atlas_eager_masks"  # for models that read masks themselves, as additive ones
GROWING_BIAS = N_("it adds a bias to its scores, which is not known while a text grows")
GROWING_STATE = N_("its state is not kept here while a text grows, only keys and values are")
UNKNOWN_MASK = N_("what it masks is not known while a text grows")
SEVERAL = N_("it splits one text into a batch of several")
ATTENDS_AGAIN = N_("one of its modules attends several times in a forward: layers share it, or it attends in parts")
IN_PARTS = N_("its heads get their values in two parts, and a variant of softmax would need both at once")


@dataclass(frozen=True)
class AttentionCalls:
    """For modules that attend more than once in a forward, by qualified name: how often, and in how many parts.

    A call in parts has the same queries and keys in every part and different values (DiffLlama); its parts make one
    record.
    """

    times: Mapping[str, int] = field(default_factory=dict[str, int])
    parts: Mapping[str, int] = field(default_factory=dict[str, int])
    pairs: Mapping[str, HeadPairs] = field(default_factory=dict[str, HeadPairs])  # how a module combines its parts

    def keys(self, modules: Iterable[str]) -> list[str]:
        """The keys of all calls of these modules."""
        return [key_of_call(module, call) for module in modules for call in range(self.times.get(module, 1))]


def key_of_call(module: str, call: int) -> str:
    """The key of a call's record: the module's name, with a number for calls after the first."""
    return module if call == 0 else f"{module}@{call}"


def module_of_call(key: str) -> str:
    """The qualified name of the module of this call."""
    return key.partition("@")[0]


@dataclass(eq=False)
class ActivationRecorder:
    """The record of one forward, filled in place while the forward runs."""

    names: dict[int, str]  # id of an attention module -> its qualified name
    calls: AttentionCalls | None = field(default_factory=AttentionCalls)  # None while they are being determined
    keep: Callable[[Tensor], Tensor] = torch.clone  # copies a tensor of the forward that is to be kept
    consumer: StepConsumer | None = None  # receives the layers' records instead of ``records``
    known: dict[str, MaskRule] = field(default_factory=dict)  # rules of layers, if this forward need not provide them
    keeps: bool = True  # False: this forward only applies ``edit``, and may be of a whole batch
    whole_masks: bool = False  # have every mask built, even where the layer could do without one
    edit: ForwardEdit | None = None  # what this forward changes of the model's own attention
    lengths: tuple[int, ...] = ()  # lengths of the texts of a batch, padded on the right; the first is the longest
    start: int = 0  # position of the first query, i.e. the number of tokens in the cache
    n_rotary: int = 0  # calls of the rotary function so far
    device: torch.device | None = None  # device of what is kept; None until a layer was recorded
    called: dict[str, int] = field(default_factory=dict)  # how often each module has attended in this forward
    held: list[tuple[Tensor, Tensor]] = field(default_factory=list)  # values and outputs of a call's parts so far
    again: set[str] = field(default_factory=set)  # calls with the queries and keys of the call before
    read: tuple[Tensor, Tensor] | None = None  # queries and keys of the last call, while calls are being determined
    records: dict[str, LayerRecord] = field(default_factory=dict)
    beside: list[dict[str, LayerRecord]] = field(default_factory=list)  # for the second text of a batch, the third, …
    # for these other texts
    shorter: dict[tuple[int, int], Rotation] = field(default_factory=dict[tuple[int, int], Rotation])
    rules: list[tuple[Tensor, MaskRule]] = field(default_factory=list)
    biases: list[tuple[Tensor, RelativeBias]] = field(default_factory=list)
    made: dict[int, tuple[Tensor, ...]] = field(default_factory=dict)  # id of a module -> what it made for its scores
    read_keys: dict[int, int] = field(
        default_factory=dict[int, int]
    )  # id of a module -> keys of what is read, the last
    n_compressed: dict[int, int] = field(default_factory=dict[int, int])  # id of a module -> its compressed keys
    compressed: dict[str, LayerRecord] = field(default_factory=dict[str, LayerRecord])  # beside those of ``records``
    choices: list[IndexerChoice] = field(default_factory=list)  # the indexers' choices in this forward
    kept_choices: dict[str, KeyChoice] = field(default_factory=dict)  # by indexer
    rotary_calls: list[RotaryCall] = field(default_factory=list)
    rotations: list[InferredRotation] = field(default_factory=list)  # of the layers so far, without duplicates

    def enter(self, module: str) -> tuple[str, int]:
        """Register that a module attends: returns the key of its call in this forward, and the number of the part.

        Raises CannotRecord if it attends more often than at load, since its record would replace another.
        """
        count = self.called.get(module, 0)
        self.called[module] = count + 1
        parts = 1 if self.calls is None else self.calls.parts.get(module, 1)
        call, part = divmod(count, parts)
        if self.calls is not None and call >= self.calls.times.get(module, 1):
            raise CannotRecord(ATTENDS_AGAIN)
        return key_of_call(module, call), part

    def pass_over(self, key: str) -> None:
        """Count the call of this key as done, since its layer is left out of this forward."""
        module = module_of_call(key)
        parts = 1 if self.calls is None else self.calls.parts.get(module, 1)
        self.called[module] = self.called.get(module, 0) + parts

    def join(self, module: str, given: Tensor) -> None:
        """Store what a module that attends in parts made of them, ``[1, queries, heads / parts · d_value]``."""
        pairs = None if self.calls is None else self.calls.pairs.get(module)
        if pairs is None or self.calls is None or not self.keeps:
            return
        key = key_of_call(module, self.called[module] // self.calls.parts[module] - 1)
        if self.consumer is not None:
            self.consumer.join(key, given if self.device is None else given.to(self.device), pairs)
        elif (record := self.records.get(key)) is not None:
            rows = given.reshape(record.output.shape[0], -1, record.output.shape[2]).to(record.output.device)
            difference = HeadDifference(pairs.factor, pairs.gain, pairs.eps, self.keep(rows))
            self.records[key] = replace(record, difference=difference)

    def parts_of(self, module: nn.Module) -> int:
        """In how many parts a call of this module attends."""
        return self.parts_by_name(self.names[id(module)])

    def parts_by_name(self, key: str) -> int:
        """The same by the module's name, or by the key of a call."""
        return 1 if self.calls is None else self.calls.parts.get(module_of_call(key), 1)

    def note_read(self, key: str, query: Tensor, keys: Tensor) -> None:
        """While calls are being determined, note whether one has the same queries and keys as the call before."""
        if self.calls is None:
            if self.read is not None and self.read[0] is query and self.read[1] is keys:
                self.again.add(key)
            self.read = query, keys

    def grown(
        self,
        name: str,
        shown: tuple[Tensor, Tensor, Tensor, Tensor],
        chosen: NewlyChosen | None,
        own: TokenRows = NONE,
    ) -> Tensor | None:
        """The output, with substitutes, of a layer that the consumer knows already; None for a layer that it does not
        know.

        ``shown`` are queries, keys, values and output; ``own`` are the new tokens' parts of bias, mask and sinks.
        """
        query, _, _, output = shown
        here = self._brought((shown, chosen, own), query)
        if self.consumer is None or not self.consumer.more(name, here[0], self.rotary_calls, here[1], here[2]):
            return None
        self.rotary_calls.clear()
        substitutes = self.edit is not None and self.edit.layers[name].substitutes
        return self.consumer.substituted(name).to(output.device) if substitutes else output

    def _brought(self, shown: V, q: Tensor) -> V:
        """Move a layer's tensors, and its rotary calls, to the device of the first layer."""
        self.device = self.device or q.device
        if q.device == self.device:
            return shown
        self.rotary_calls = to_device(self.rotary_calls, self.device)
        return to_device(shown, self.device)

    def take(self, name: str, seen: LayerRecord) -> None:
        """Keep a layer's record; its tensors are still the forward's own, and its rotation is not determined yet."""
        if not self.keeps:
            return
        seen = self._brought(seen, seen.q)
        if self.consumer is not None:
            self.consumer.begin(name, seen, self.rotary_calls)
        else:
            found = find_rotation(self.rotary_calls, seen.q, self.rotations)
            if isinstance(found, InferredRotation) and found not in self.rotations:
                self.rotations.append(found)
            rotation = found.rotation if isinstance(found, InferredRotation) else found or seen.rotation
            self.records[name] = replace(self._kept(seen), rotation=rotation)
        self.rotary_calls.clear()

    def take_beside(self, name: str, shown: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
        """Keep a layer's tensors for the other texts of a batch; everything else is as for the first one.

        ``shown`` are queries, keys, values and output. Raises CannotRecord if a layer differs by text in more than
        these.
        """
        if len(self.lengths) < 2:
            return
        first = self.records[name]
        own = (first.bias, first.choice, first.difference, first.unrolled, first.rest_in, first.edit)
        by_text = any(one is not None for one in own) or chosen_of(first.mask.own) is not None
        if by_text or self.parts_by_name(name) > 1 or (first.sinks is not None and first.sinks.dim() > 1):
            raise CannotRecord(SEVERAL)
        self.beside = self.beside or [{} for _ in self.lengths[1:]]
        query, key, value, output = shown
        for row, (length, records) in enumerate(zip(self.lengths[1:], self.beside, strict=True), 1):
            q, k, v = (self.keep(one[row, :, :length]) for one in (query, key, value))
            turned = self._turned_in(first.rotation, length)
            records[name] = replace(first, q=q, k=k, v=v, output=self.keep(output[row, :length]), rotation=turned)

    def _turned_in(self, rotation: Rotation | str | None, length: int) -> Rotation | str | None:
        """The rotation of the first ``length`` tokens, made once for all layers that share it."""
        if not isinstance(rotation, Rotation):
            return rotation
        known = self.shorter.get((id(rotation), length))
        if known is None:
            known = replace(rotation, cos=rotation.cos[..., :length, :], sin=rotation.sin[..., :length, :])
            self.shorter[id(rotation), length] = known
        return known

    def take_compressed(self, name: str, seen: LayerRecord) -> None:
        """Keep a layer's attention to its compressed keys."""
        self.compressed[name] = replace(self._kept(self._brought(seen, seen.q)), q=self.records[name].q)

    def _kept(self, seen: LayerRecord) -> LayerRecord:
        """The record with its own copies of the tensors."""
        return replace(
            seen,
            q=self.keep(seen.q),
            k=self.keep(seen.k),
            v=self.keep(seen.v),
            output=self.keep(seen.output),
            choice=self._kept_choice(seen.choice),
        )

    def _kept_choice(self, choice: KeyChoice | None) -> KeyChoice | None:
        """Keep the choice once for all layers that share it."""
        if choice is not None and choice.indexer not in self.kept_choices:
            q, k, weights = (self.keep(one) for one in (choice.q, choice.k, choice.weights))
            self.kept_choices[choice.indexer] = replace(choice, q=q, k=k, weights=weights)
        return None if choice is None else self.kept_choices[choice.indexer]

    def chosen(self, indices: Tensor | None, rule: MaskRule, key: Tensor) -> NewlyChosen | None:
        """The choice of the indexer that returned these indices; None: every query reads all keys that it may."""
        if indices is None:
            return None
        choice = next((one for one in reversed(self.choices) if one.indices is indices), IndexerChoice(indices, None))
        return newly_chosen(choice, rule, self.start, key.shape[2])


_ACTIVE: contextvars.ContextVar[ActivationRecorder | None] = contextvars.ContextVar(
    "attention_atlas_recording", default=None
)


@contextlib.contextmanager
def record_with(recording: ActivationRecorder) -> Generator[ActivationRecorder]:
    """Record every attention call in this context (threads do not inherit it)."""
    token = _ACTIVE.set(recording)
    try:
        edit = recording.edit
        with added(() if edit is None else edit.matrices), choosing(None if edit is None else edit.indexers):
            yield recording
    finally:
        _ACTIVE.reset(token)
        recording.choices.clear()
        recording.kept_choices.clear()
        recording.rules.clear()  # the forward's mask tensors end here; only their rules are kept
        recording.biases.clear()
        recording.made.clear()
        recording.read_keys.clear()
        recording.n_compressed.clear()
        recording.rotary_calls.clear()
        recording.rotations.clear()
        recording.called.clear()
        recording.held.clear()
        recording.read = None


def active_recorder() -> ActivationRecorder | None:
    """The recorder of this context's forward."""
    return _ACTIVE.get()


def hook_rotations(model: nn.Module) -> None:
    """Record the calls of the model's rotary functions while a recording is active, process-wide."""
    hook_rotary(model, _take_rotation, _edit_rotation)


def hook_joined(pairs: Mapping[str, HeadPairs]) -> None:
    """Record what these modules make of the parts of their attention while a recording is active."""

    def hear(name: str) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def hook(_: nn.Module, args: tuple[Any, ...]) -> None:
            if (recording := _ACTIVE.get()) is not None:
                recording.join(name, args[0])

        return hook

    for name, one in pairs.items():
        one.projection.register_forward_pre_hook(hear(name))


def install_scans(model: nn.Module) -> None:
    """Make the model's recurrences recordable; their functions are wrapped process-wide."""
    hook_scans(model, lambda: (recording := _ACTIVE.get()) is not None and recording.keeps, _take_scan)


def _take_scan(mixer: nn.Module, seen: LayerRecord) -> None:
    recording = _ACTIVE.get()
    if recording is None:
        return
    if recording.consumer is not None:
        raise CannotRecord(GROWING_STATE)
    pause()
    recording.take(recording.enter(recording.names[id(mixer)])[0], seen)


def install_recorder(model: nn.Module) -> None:
    """Make the model's attention recordable; its rotary functions are wrapped process-wide, attention for this model
    only.
    """
    hook_rotations(model)
    hook_indexers(model, _take_choice, lambda: (recording := _ACTIVE.get()) is not None and recording.keeps)
    hook_made_biases(model, _take_made)
    hook_merged(model, _take_read)
    compresses = watch_compressors(model, _take_compressed)
    name = EAGER_MASKS if compresses else NAME  # DeepSeek-V4 appends numbers to its mask, which must not be booleans
    model.set_attn_implementation(name)  # type: ignore[operator]  # PreTrainedModel; torch types attributes as Tensor | Module


def _take_rotation(call: RotaryCall) -> None:
    recording = _ACTIVE.get()
    if recording is not None:
        recording.rotary_calls.append(call)


def _take_choice(indexer: nn.Module, choice: IndexerChoice) -> None:
    recording = _ACTIVE.get()
    if recording is not None:
        how = choice.how and narrowed(choice.how, indexer, recording.names[id(indexer)])
        recording.choices.append(replace(choice, how=how))


def _take_made(module: nn.Module, made: tuple[Tensor, ...]) -> None:
    recording = _ACTIVE.get()
    if recording is not None:
        recording.made[id(module)] = made


def _take_read(module: nn.Module, n_read: int) -> None:
    recording = _ACTIVE.get()
    if recording is not None:
        recording.read_keys[id(module)] = n_read


def _take_compressed(module: nn.Module, count: int) -> None:
    recording = _ACTIVE.get()
    if recording is not None:
        recording.n_compressed[id(module)] = count


def _edit_rotation(cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    recording = _ACTIVE.get()
    if recording is None or recording.edit is None or recording.edit.rotation is None:
        return cos, sin
    recording.n_rotary += 1
    return recording.edit.rotation.apply(cos, sin, start=recording.start, call=recording.n_rotary - 1)


def recording_mask(
    *args: Any, mask_function: Any = causal_mask_function, use_vmap: bool = False, **options: Any
) -> Any:
    """transformers' sdpa mask, with a note of the rule it was made from."""
    recording = _ACTIVE.get()
    if recording is not None and recording.whole_masks:
        options |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
    mask = sdpa_mask(*args, mask_function=mask_function, use_vmap=use_vmap, **options)
    if recording is not None and mask is not None:
        recording.rules.append((mask, MaskRule(rule_of(mask_function, mask))))
    return mask


def recording_whole_mask(*args: Any, **options: Any) -> Any:
    """The same, built even where transformers would omit a causal mask since attention is causal by itself."""
    return recording_mask(*args, **{**options, "allow_is_causal_skip": False})


def recording_eager_mask(*args: Any, dtype: torch.dtype = torch.float32, **options: Any) -> Any:
    """The same as an additive mask, as transformers' eager attention uses it; NLLB-MoE's experts read it too."""
    mask = recording_whole_mask(*args, **options)
    if mask is None:
        return None
    added = torch.where(mask, torch.zeros((), device=mask.device, dtype=dtype), torch.finfo(dtype).min)
    recording = _ACTIVE.get()
    if recording is not None:
        recording.rules[-1] = (added, recording.rules[-1][1])
    return added


def recording_attention(  # noqa: C901, PLR0915  a kernel: edit, attend, record, in the order of the computation
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
    pause()
    recording = _ACTIVE.get()
    if recording is not None and id(module) in recording.read_keys:
        return _merged(recording, module, (query, key, value), attention_mask, scaling, options), None
    if recording is not None and recording.n_compressed.get(id(module)):
        return _with_compressed(recording, module, (query, key, value), attention_mask, scaling, options), None
    rule, edit, chosen, own_bias, name, part, n_parts = None, None, None, None, "", 0, 1
    indices = options.pop("indices", None)  # which keys each query reads, if an indexer chose them
    bias, softcap = options.get("position_bias"), options.get("softcap")
    sinks = _sinks_in(options)
    own = bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)
    causal = own and (query.shape[2] > 1 or key.shape[2] == 1)  # a single token that reads a cache sees all of it
    eager, window = softcap is not None or sinks is not None, options.get("sliding_window")
    if recording is not None:
        name, part = recording.enter(recording.names[id(module)])
        recording.note_read(name, query, key)
        n_parts = recording.parts_of(module)
        own_bias = _made_bias(recording, module, query, attention_mask, bias)
        rule = own_bias.rule if own_bias is not None and own_bias.rule is not None else recording.known.get(name)
        rule = rule or _rule_of(recording, attention_mask, causal, window, query.shape[2])
        chosen = recording.chosen(indices, rule, key)
        rule = rule if chosen is None else chosen.rule(rule)
        edit = None if recording.edit is None else recording.edit.layers[name]
    if indices is not None:
        cells = chosen_cells(indices, key.shape[2])
        attention_mask = cells if attention_mask is None else attention_mask & cells
    if recording is not None and rule is not None and edit is not None:
        if own_bias is not None:
            check_edit(own_bias.bias, edit)
            # a bias is edited separately from the mask
            if own_bias.mask is not None and (edit.masks or edit.temperatures):
                attention_mask, options["position_bias"] = own_bias.mask, own_bias.added
        key, value = edit.read(key), edit.read(value)
        query = _sharpened(recording, edit, query, eager, first=part == 0)
        rule = edit.rule(rule)
        attention_mask, bias = masked(edit, rule, recording.start, query, key, attention_mask, options)
    if eager:
        by_query = {
            name: one for name, one in options.items() if torch.is_tensor(one) and name in BY_QUERY and one.dim() == 4
        }
        shared = {name: one for name, one in options.items() if name not in by_query}
        eager_function = partial(_eager_function(module), module, dropout=0.0, scaling=scaling, **shared)
        rule_of_none = CAUSAL if causal else FULL
        output = chunked_eager(eager_function, query, key, value, attention_mask, rule_of_none, by_query)
    else:
        output = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, is_causal=is_causal, **options
        )[0]
    if recording is not None and rule is not None and (recording.keeps or (edit is not None and edit.substitutes)):
        _refuse_unexpressible(options, query, max(1, len(recording.lengths)))
        per_query = None if sinks is None or sinks.dim() == 1 else sinks.detach()[0, :, :, 0].contiguous()
        token_bias = None if own_bias is None else own_bias.bias
        token_bias = token_bias if token_bias is None or edit is None else sharpened(token_bias, edit)
        own_rows = rows_of(token_bias, rule, per_query, query.shape[2])

        def record(value: Tensor, output: Tensor) -> Tensor:
            """The output, with substitutes where an edit replaces softmax."""
            if (grown := recording.grown(name, (query, key, value, output), chosen, own_rows)) is not None:
                return grown
            seen = LayerRecord(
                q=query[0], k=key[0], v=value[0], output=output[0],
                scale=_scale(scaling, query),
                softcap=softcap,
                sinks=None if sinks is None else sinks.detach() if per_query is None else per_query,
                mask=rule,
                window=window or window_of(rule.own),
                rotation=None, eager=eager, edit=edit, bias=token_bias or _bias_of(recording, bias),
                choice=None if chosen is None else chosen.how,
            )  # fmt: skip  # a line for what belongs together
            if edit is not None and any(one.row.needs_layer for one in edit.substitutes):
                found = find_rotation(recording.rotary_calls, seen.q, recording.rotations)
                seen = replace(seen, rotation=found.rotation if isinstance(found, InferredRotation) else found)
            seen = seen.substitute_heads()
            recording.take(name, seen)
            recording.take_beside(name, (query, key, value, output))
            return output if recording.lengths else seen.output[None]

        if n_parts == 1:
            output = record(value, output)
        elif edit is not None and edit.substitutes:
            raise EditNotPossible(reason=IN_PARTS)
        else:
            recording.held.append((value, output))
            if part == n_parts - 1:
                values, outputs = zip(*recording.held, strict=True)
                recording.held.clear()
                record(torch.cat(values, dim=-1), torch.cat(outputs, dim=-1))
    return output if edit is None else edit.part_output_edited(output, part, n_parts), None


def _merged(
    recording: ActivationRecorder,
    module: nn.Module,
    given: tuple[Tensor, Tensor, Tensor],
    mask: Tensor | None,
    scaling: float | None,
    options: dict[str, Any],
) -> Tensor:
    """The output of a module with one softmax over two texts; ``given`` are queries, and keys and values of both."""
    query, key, value = given
    n_read, name = recording.read_keys.pop(id(module)), recording.enter(recording.names[id(module)])[0]

    def attend(key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        return sdpa_attention_forward(module, query, key, value, mask, scaling=scaling, is_causal=False)[0]

    if not recording.keeps and recording.edit is None:
        return attend(key, value, mask)
    if mask is None or recording.consumer is not None or any(options.get(one) is not None for one in IN_SCORES):
        raise CannotRecord(MERGED)
    window, written = getattr(module, "sliding_window", None), key.shape[2] - n_read
    cells, across = mask[:1, ..., :written], cells_of(mask[:1, ..., written:], query.shape[2])
    if across is None or not bool((mask == mask[:1]).all()):  # the texts of a batch are masked alike
        raise CannotRecord(OTHER_MASK)
    rules = _rule_of(recording, cells, False, window, query.shape[2]), rule_of_cells(across[None], across=True)
    edits = [LayerEdit() if recording.edit is None else recording.edit.layers[one] for one in both_of(name)]
    heres, rests = (slice(0, written), slice(written, None)), (("cross", None), ("decoder", READ_UNTURNED))
    of_written, of_read = (
        MergedPart(key[:, :, here], value[:, :, here], mask[..., here], rule, edit, *rest).edited(query)
        for here, rule, edit, rest in zip(heres, rules, edits, rests, strict=True)
    )
    call = MergedCall(query, of_written, of_read, attend)
    if recording.keeps:
        _refuse_unexpressible(options, query)
        scale = _scale(scaling, query)
        for one, record in zip(both_of(name), call.records(scale, window), strict=True):
            recording.take(one, record)
    return call.output()


def _with_compressed(
    recording: ActivationRecorder,
    module: nn.Module,
    given: tuple[Tensor, Tensor, Tensor],
    mask: Tensor | None,
    scaling: float | None,
    options: dict[str, Any],
) -> Tensor:
    """The output of a module that reads compressed keys after those of tokens; ``given`` are queries, keys, values."""
    query, key, value = given
    n_tokens, name = key.shape[2] - recording.n_compressed[id(module)], recording.enter(recording.names[id(module)])[0]
    sinks = _sinks_in(options)
    eager = partial(_eager_function(module), module, dropout=0.0, scaling=scaling, **options)

    def attend(key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        return chunked_eager(eager, query, key, value, mask, FULL, {})

    if not recording.keeps and recording.edit is None:
        return attend(key, value, mask)
    compression = compression_of(module)
    if mask is None or compression is None or recording.consumer is not None or recording.start:
        raise CannotRecord(GROWING)
    window, cells = options.get("sliding_window"), cells_of(mask[:1], query.shape[2])
    if cells is None or not bool((mask == mask[:1]).all()):  # the texts of a batch are masked alike
        raise CannotRecord(OTHER_MASK)
    rule = _rule_of(recording, mask[:1, ..., :n_tokens], False, window, query.shape[2])
    own = rule_of_entries(cells[:, n_tokens:], compression)
    edit = LayerEdit() if recording.edit is None else recording.edit.layers[name]

    def part(here: slice, rule: MaskRule, edit: LayerEdit, rest_in: str, rotation: str | None = None) -> MergedPart:
        given = MergedPart(
            key[:, :, here], value[:, :, here], cells[None, None, :, here], rule, edit, rest_in, rotation
        )
        return given.edited(query, COMPRESSED_TOO)

    of_tokens = part(slice(0, n_tokens), rule, edit, COMPRESSED)
    of_entries = part(slice(n_tokens, None), own, edit_of_entries(edit), TOKENS, TURNED_BY_BLOCK)
    call = MergedCall(query, of_tokens, of_entries, attend, None if sinks is None else sinks.detach(), eager=True)
    if recording.keeps:
        _refuse_unexpressible(options, query)
        scale = _scale(scaling, query)
        record, compressed = call.records(scale, window)
        recording.take(name, record)
        how = recording.choices[-1].how if chosen_of(own.own) is not None and recording.choices else None
        recording.take_compressed(name, replace(compressed, choice=how))
    return call.output()


def both_of(name: str) -> tuple[str, str]:
    """The keys of the two records of a module that merges two texts: for the target and for the source."""
    return name, key_of_call(name, 1)


def _made_bias(
    recording: ActivationRecorder, module: nn.Module, query: Tensor, mask: Tensor | None, bias: Tensor | None
) -> MadeBias | None:
    """What the module added to its scores in this call; None if it adds nothing, or if that is not wanted."""
    made = recording.made.pop(id(module), None)
    if made is None:
        return None
    if recording.lengths:
        raise CannotRecord(SEVERAL)
    if len(made) == 2:
        return None if bias is None or len(query) != 1 else profile_bias(module, made, bias, recording.start)
    if mask is None:
        raise CannotRecord(OTHER_MASK)
    if len(query) != 1:  # several texts, which are not recorded
        if recording.edit is not None and any(edit.masks for edit in recording.edit.layers.values()):
            raise CannotRecord(SEVERAL)
        return several(module, made[0], mask, query.shape[1])
    return key_bias(module, made[0], mask, recording.rules, query.shape[1], grows=recording.consumer is not None)


def _sharpened(recording: ActivationRecorder, edit: LayerEdit, query: Tensor, eager: bool, *, first: bool) -> Tensor:
    """Multiply the temperatures of heads into the queries, and into what was recorded of their rotation.

    ``first``: whether it is the first part of a call, after which the rotation is settled.
    """
    sharpened = edit.sharpen(query)
    if sharpened is query:
        return query
    if eager:
        raise EditNotPossible(reason=N_("a head with soft-capped scores or a sink cannot be sharpened by its queries"))
    if not first:
        return sharpened
    recording.rotary_calls = [
        replace(call, rotated_q=edit.sharpen(call.rotated_q)) if call.rotated_q.shape[:3] == query.shape[:3] else call
        for call in recording.rotary_calls
    ]
    return sharpened


def _rule_of(
    recording: ActivationRecorder, mask: Tensor | None, causal: bool, window: int | None, queries: int
) -> MaskRule:
    if mask is None:
        return CAUSAL if causal else FULL
    for made, rule in recording.rules:
        if made is mask or (made.data_ptr() == mask.data_ptr() and made.shape == mask.shape):
            return rule
    alike = [rule for made, rule in recording.rules if same_cells(made, mask)]  # on several devices, layers have copies
    if any(rule != alike[0] for rule in alike):  # a short text does not distinguish them
        alike = [rule for rule in alike if window_of(rule.own) == window]
    if alike:
        return alike[0]
    if not recording.whole_masks and (cells := cells_of(mask, queries)) is not None:
        return rule_of_cells(cells[None], across=len(cells) != cells.shape[1])  # made for this text only
    raise CannotRecord(OTHER_MASK)


def _bias_of(recording: ActivationRecorder, bias: Tensor | None) -> RelativeBias | None:
    """The rule of a bias, determined once for all layers that share the tensor; None if it adds nothing."""
    if bias is None or not bias.any():
        return None
    if recording.consumer is not None:
        raise CannotRecord(GROWING_BIAS)
    known = next((rule for seen, rule in recording.biases if seen is bias), None)
    if known is None:
        known = relative(bias[0])
        if known is None:
            raise CannotRecord(OTHER_BIAS)
        recording.biases.append((bias, known))
    return known


def _scale(scaling: float | None, query: Tensor) -> float:
    """The factor of the scores; transformers' default if a module names none."""
    return float(scaling) if scaling is not None else query.shape[-1] ** -0.5


def _sinks_in(options: dict[str, Any]) -> Tensor | None:
    """The learned sinks of a call, under either of their names."""
    return options.get("s_aux") if options.get("s_aux") is not None else options.get("sinks")


def _refuse_unexpressible(options: dict[str, Any], query: Tensor, texts: int = 1) -> None:
    if options.get("block_indices") is not None:
        raise CannotRecord(N_("each of its queries reads a few keys by index, which a capture cannot express"))
    if len(query) != texts:
        raise CannotRecord(SEVERAL)


def _eager_function(module: nn.Module) -> Callable[..., Any]:
    """The modeling module's own ``eager_attention_forward``."""
    eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    if eager is None:
        raise CannotRecord(N_("it has no attention function that could be called for soft-capped or sink attention"))
    return eager


AttentionInterface.register(NAME, recording_attention)
AttentionMaskInterface.register(NAME, recording_mask)
AttentionInterface.register(WHOLE_MASKS, recording_attention)
AttentionMaskInterface.register(WHOLE_MASKS, recording_whole_mask)
AttentionInterface.register(EAGER_MASKS, recording_attention)
AttentionMaskInterface.register(EAGER_MASKS, recording_eager_mask)
