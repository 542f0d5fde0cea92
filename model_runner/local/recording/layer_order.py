"""Orders the layers of a model that runs a module several times, or that attends several times in one module.

Each call of attention is a layer of its own: ALBERT's twelve are one module that runs twelve times, a block of
LongCat-Flash attends twice, and HRM-Text goes through its two stacks in cycles.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from model_runner.errors import N_
from model_runner.layer_origin import LayerOrigin
from model_runner.local.recording.recorder import (
    ATTENDS_AGAIN,
    ActivationRecorder,
    AttentionCalls,
    CannotRecord,
    module_of_call,
    record_with,
)
from model_runner.local.recording.residual_stream import watched

NOT_ONE_STACK = N_("its attention layers are not in one numbered stack")
NO_STREAM = N_("its layers do not hand on one stream of tokens")
# "model.layers.3.self_attn.0" -> "model.layers", 3: the innermost list around it
WITHIN = re.compile(r"^(.*)\.(\d+)\.[^.]")


@dataclass(frozen=True, eq=False)
class OrderedLayers:
    """``modules``: each listed once per run or attention call. ``attention``: for each layer, the key of its call.

    A layer in ``begins`` starts inside the run of the layer before it, at the input of the module given there.
    ``breaks`` are the layers whose input is not the output of the layer before.
    """

    modules: tuple[nn.Module, ...]
    attention: dict[int, str]
    begins: dict[int, nn.Module]
    origins: tuple[LayerOrigin, ...]
    breaks: frozenset[int]


def attention_calls(recording: ActivationRecorder) -> AttentionCalls:
    """How often each module attended in the recorded forward, and in how many parts. Raises CannotRecord."""
    by_module: dict[str, list[bool]] = {}
    for key in recording.records:
        by_module.setdefault(module_of_call(key), []).append(key in recording.again)
    times: dict[str, int] = {}
    parts: dict[str, int] = {}
    for module, again in by_module.items():
        calls = again.count(False)
        per_call, rest = divmod(len(again), calls)
        if rest or again != ([False] + [True] * (per_call - 1)) * calls:
            raise CannotRecord(ATTENDS_AGAIN)
        if calls > 1:
            times[module] = calls
        if per_call > 1:
            parts[module] = per_call
    return AttentionCalls(times, parts)


def layers_in_order(
    model: Any, recording: ActivationRecorder, forward: Callable[[], Any], n_tokens: int
) -> OrderedLayers:
    """Find the order by forwards over ``n_tokens`` tokens, one of which ``recording`` has recorded.

    Raises CannotRecord.
    """
    places = [WITHIN.match(key) for key in map(module_of_call, recording.records)]
    stacks = {place[1] for place in places if place is not None}
    if None in places:
        raise CannotRecord(NOT_ONE_STACK)
    members = {
        module: f"{stack}.{number}"
        for stack in sorted(stacks)
        for number, module in enumerate(model.get_submodule(stack))
    }
    runs = _runs(members, recording, forward)
    if sum(len(run.keys) for run in runs) != len(recording.records):
        raise CannotRecord(NOT_ONE_STACK)
    seconds = _second_attentions(model, runs, forward)
    counts = Counter(run.module for run in runs)
    modules: list[nn.Module] = []
    attention: dict[int, str] = {}
    begins: dict[int, nn.Module] = {}
    origins: list[LayerOrigin] = []
    seen = Counter[nn.Module]()
    for run in runs:
        parts = max(1, len(run.keys))
        for part in range(parts):
            if part < len(run.keys):
                attention[len(modules)] = run.keys[part]
            if part:
                begins[len(modules)] = seconds[module_of_call(run.keys[part])]
            modules.append(run.module)
            origins.append(LayerOrigin(members[run.module], seen[run.module], counts[run.module], part, parts))
        seen[run.module] += 1
    breaks = _breaks(modules, begins, forward, n_tokens)
    return OrderedLayers(tuple(modules), attention, begins, tuple(origins), breaks)


@dataclass(eq=False)
class _Run:
    """One run of a layer's module, with the keys of the attention calls in it."""

    module: nn.Module
    keys: list[str] = field(default_factory=list[str])


def _runs(members: Mapping[nn.Module, str], recording: ActivationRecorder, forward: Callable[[], Any]) -> list[_Run]:
    runs: list[_Run] = []
    inside: list[nn.Module] = []

    def enter(module: nn.Module, _: Any) -> None:
        if inside:
            raise CannotRecord(NOT_ONE_STACK)
        inside.append(module)
        runs.append(_Run(module, list(recording.records)))

    def leave(module: nn.Module, _: Any, __: Any) -> None:
        before = set(runs[-1].keys)
        runs[-1].keys = [key for key in recording.records if key not in before]
        if len(set(map(module_of_call, runs[-1].keys))) < len(runs[-1].keys):
            raise CannotRecord(ATTENDS_AGAIN)
        inside.clear()

    recording.records.clear()
    hooks = [module.register_forward_pre_hook(enter) for module in members]
    hooks += [module.register_forward_hook(leave) for module in members]
    with _removed(hooks), record_with(recording):
        forward()
    return runs


def _second_attentions(model: Any, runs: Sequence[_Run], forward: Callable[[], Any]) -> dict[str, nn.Module]:
    """For every attention that is not the first in its layer's run, the module that reads the stream for it.

    That is the module that made the attention's input, such as a norm before it, or else the attention itself.
    """
    wanted = {module_of_call(key) for run in runs for key in run.keys[1:]}
    if not wanted:
        return {}
    attention = {model.get_submodule(name): name for name in wanted}
    found: dict[str, nn.Module] = {}
    made: list[tuple[nn.Module, Tensor, Tensor]] = []

    def read(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = next(one for one in (*args, *kwargs.values()) if torch.is_tensor(one) and one.is_floating_point())
        before = [one for one, out, _ in made if out.shape == given.shape and torch.equal(out, given)]
        found.setdefault(attention[module], before[-1] if before else module)

    def note(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        if args and torch.is_tensor(args[0]) and torch.is_tensor(output) and args[0].shape == output.shape:
            made.append((module, output.clone(), args[0]))

    hooks = [module.register_forward_pre_hook(read, with_kwargs=True) for module in attention]
    leaves = {one for run in runs for one in run.module.modules() if not list(one.children())}
    hooks += [module.register_forward_hook(note) for module in leaves]
    with _removed(hooks):
        forward()
    return found


def _breaks(
    modules: Sequence[nn.Module], begins: Mapping[int, nn.Module], forward: Callable[[], Any], n_tokens: int
) -> frozenset[int]:
    """Raises CannotRecord unless the inputs and outputs of layers have a row per token, all of one width."""
    entering: dict[int, Tensor] = {}
    leaving: dict[int, Tensor] = {}
    with watched(
        modules,
        lambda place, x: entering.__setitem__(place, x.clone()),
        begins,
        lambda place, x: leaving.__setitem__(place, x.clone()),
    ):
        forward()
    shapes = {stream.shape for stream in (*entering.values(), *leaving.values())}
    if len(entering) != len(modules) + 1 or len(shapes) != 1 or len(entering[0]) != n_tokens:
        raise CannotRecord(NO_STREAM)
    return frozenset(place for place in range(1, len(modules)) if not torch.equal(entering[place], leaving[place - 1]))


@contextlib.contextmanager
def _removed(hooks: Sequence[Any]) -> Generator[None]:
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
