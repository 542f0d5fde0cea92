"""Where a model keeps its layers and its attention, found by running a few tokens through it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from model_runner.errors import N_, NotCapturable, Reason
from model_runner.recording import CannotRecord, Recording, active, install

PROBE_TOKENS = 4
NUMBERED = re.compile(r"^(.*?)\.(\d+)(\.|$)")  # "model.layers.3.self_attn" -> "model.layers", 3


@dataclass(frozen=True, eq=False)
class Anatomy:
    """The layers, which of them have attention, and what the others are."""

    layers: tuple[nn.Module, ...]
    attention: dict[int, str]  # layer -> qualified name of its attention module
    kinds: tuple[str, ...]
    names: dict[int, str]  # id of a module -> qualified name
    n_heads: int
    n_kv_heads: int
    bytes_per_token: float
    trunk: Trunk


@dataclass(frozen=True, eq=False)
class Trunk:
    """The module whose last hidden state the model's own output layer reads; the model itself where it has none.

    Usually that is ``model.base_model``, but OPT's output layer calls its decoder directly, and transformers 5.23 takes
    Llama 4's text model for its own base.
    """

    module: nn.Module
    output: Callable[..., Any]  # the type of what it returns
    has_head: bool


def examine(model: Any, name: str) -> Anatomy:
    """Install the recording and probe the model. Raises NotCapturable with the reason."""
    family = str(model.config.model_type)

    def refuse(reason: Reason | str) -> NotCapturable:
        return NotCapturable(name=name, family=family, reason=reason)

    if getattr(model.config, "is_encoder_decoder", False):
        raise refuse(N_("it is an encoder–decoder, and only models with one stack of layers are supported so far"))
    if not model._can_set_attn_implementation():
        raise refuse(N_("it does not go through transformers' attention interface"))
    try:
        install(model)
    except (ValueError, NotImplementedError, ImportError) as error:
        raise refuse(str(error).splitlines()[0]) from error
    names = {id(module): qualified for qualified, module in model.named_modules()}
    recording = Recording(names)
    try:
        with active(recording):
            trunk, width = _trunk(model)
    except CannotRecord as error:
        raise refuse(error.reason) from error
    if not recording.records:
        raise refuse(N_("none of its layers calls softmax attention"))
    places = {qualified: NUMBERED.match(qualified) for qualified in recording.records}
    stacks = {place[1] for place in places.values() if place is not None}
    if len(stacks) != 1 or None in places.values():
        raise refuse(N_("its attention layers are not in one numbered stack"))
    layers = tuple(model.get_submodule(stacks.pop()))
    attention = {int(place[2]): qualified for qualified, place in places.items() if place is not None}
    if len(attention) != len(recording.records):
        raise refuse(N_("a layer of it attends more than once"))
    stream = width * (len(layers) + 2)
    stored = sum(record.nbytes for record in recording.records.values()) / PROBE_TOKENS + stream
    windows = {layer: recording.records[qualified].window for layer, qualified in attention.items()}
    first = recording.records[attention[min(attention)]]
    kinds = _kinds(model.config, len(layers), windows)
    return Anatomy(layers, attention, kinds, names, len(first.q), len(first.k), stored, trunk)


def _trunk(model: Any) -> tuple[Trunk, int]:
    """The last module to finish with a last hidden state while a few tokens run, and the bytes of one such state."""
    finished: list[tuple[nn.Module, Any]] = []

    def watch(module: nn.Module, _: Any, output: Any) -> None:
        if torch.is_tensor(getattr(output, "last_hidden_state", None)):
            finished.append((module, output))

    hooks = [module.register_forward_hook(watch) for module in model.modules()]
    try:
        with torch.no_grad():
            ids = torch.arange(PROBE_TOKENS, device=model.device)[None] % model.config.vocab_size
            model(input_ids=ids, use_cache=False, return_dict=True)
    finally:
        for hook in hooks:
            hook.remove()
    if not finished:
        raise CannotRecord(N_("its output layer reads something else than the last hidden state"))
    module, output = finished[-1]
    return Trunk(module, type(output), has_head=module is not model), output.last_hidden_state[0, 0].nbytes


def _kinds(config: Any, n_layers: int, windows: dict[int, int | None]) -> tuple[str, ...]:
    """One word per layer: the configuration's, or from what attention was given."""
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
