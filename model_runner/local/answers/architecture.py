"""A model's architecture: its own modules in the order in which they run, and what each is, measured."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from model_runner.block_questions import Architecture, Block, Part, Weight
from model_runner.layer_origin import LayerOrigin
from model_runner.local.answers.block_path import BlockPath
from model_runner.local.answers.block_probe import TOKENS, LayerRun
from model_runner.local.answers.experts import own_experts
from model_runner.local.answers.feed_forward import FeedForward, feed_forward
from model_runner.local.answers.norm_kind import norm_of
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.recording.parity_check import run, text_config

SEGMENTS = 8  # an embedding with at most this many vectors is for segments, not for positions


@dataclass(frozen=True, eq=False)
class _Stack:
    """Layers, and for each the names of its self-attention and cross-attention, relative to the layer.

    ``origins`` and ``begins`` are as in the structure.
    """

    name: str
    layers: tuple[nn.Module, ...]
    attention: tuple[tuple[str, ...], ...]
    runs: list[LayerRun]
    paths: tuple[BlockPath | None, ...]
    origins: tuple[LayerOrigin, ...] = ()
    begins: Container[int] = ()

    def run_of(self, place: int) -> range:
        """The layers that are parts of the same run of a module, including this one."""
        first, last = place, place + 1
        while first in self.begins:
            first -= 1
        while last in self.begins:
            last += 1
        return range(first, last)


def architecture(engine: Engine | EncoderDecoder) -> Architecture:
    """The architecture of this engine's model, from two forwards of a few tokens."""
    model, stacks = engine.model, tuple(_stacks(engine))
    starts = [id(stack.layers[0]) for stack in stacks]
    layers = {id(layer) for stack in stacks for layer in stack.layers}
    width = stacks[0].runs[0].entering.shape[-1]
    widths = tuple(dict.fromkeys((width, getattr(text_config(model), "hidden_size", width))))
    built = _Builder(engine, {id(module): name for name, module in model.named_modules()}, set(), widths)
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
    has_head = isinstance(engine, EncoderDecoder) or engine.has_head  # one that is missing in the files is random
    # Without an output layer, modules outside the backbone are not from the file, and no number shown needs them.
    inside = None if has_head else {id(one) for one in engine.structure.backbone.module.modules()}
    outer: list[list[Part]] = [[] for _ in range(len(starts) + 1)]  # before each stack, and after the last
    reached = 0
    for module in _order(engine, [module for stack in stacks for module in stack.layers]):
        reached += id(module) in starts
        if id(module) not in layers and (inside is None or id(module) in inside):
            outer[reached].append(built.outer(module))
    blocks = tuple(built.block(stack, place) for stack in stacks for place in range(len(stack.layers)))
    first, *between, last = outer
    return Architecture(
        tokenizer=type(engine.tokenizer).__name__,
        d_model=width,
        before=tuple(first),
        blocks=blocks,
        between=tuple(part for parts in between for part in parts),
        after=tuple(last),
        tied=has_head and head is not None and getattr(head, "weight", None) is getattr(embedding, "weight", 0),
        n_parameters=sum(part.n_parameters for parts in outer for part in parts)
        + sum(block.n_parameters for block in blocks),
    )


def _stacks(engine: Engine | EncoderDecoder) -> Iterator[_Stack]:
    if isinstance(engine, Engine):
        structure = engine.structure
        names = [structure.attention_in(place) for place in range(len(structure.layers))]
        own = tuple(() if name is None else (name,) for name in names)
        runs, paths = engine.layer_runs(), engine.block_paths()
        yield _Stack("", structure.layers, own, runs, paths, structure.origins, structure.begins)
        return
    for name in ("encoder", "decoder"):
        layers = getattr(engine.structure, name).layers
        yield _Stack(name, layers, engine.attention_names(name), engine.layer_runs(name), engine.block_paths(name))


def _order(engine: Engine | EncoderDecoder, layers: list[nn.Module]) -> list[nn.Module]:
    """Layers, and modules outside them that have parameters of their own, in the order in which they first run."""
    model, found = engine.model, list[nn.Module]()
    inside = {id(module) for layer in layers for module in layer.modules()}
    outer = [
        one for one in model.modules() if id(one) not in inside and any(True for _ in one.parameters(recurse=False))
    ]

    # starts before everything that it contains
    around = [one for one in outer if any(layers[0] is inner for inner in one.modules())]

    def note(module: nn.Module, *_: Any) -> None:
        for one in (*around, module) if module is layers[0] else (module,):
            if not any(one is other for other in found):
                found.append(one)

    hooks = [module.register_forward_pre_hook(note) for module in (*outer, *layers) if module not in around]
    ids = torch.arange(TOKENS, device=model.device)[None] % text_config(model).vocab_size
    try:
        run(model, ids) if isinstance(engine, Engine) else engine.try_on(ids)
    finally:
        for hook in hooks:
            hook.remove()
    known = {id(weight) for module in found for weight in module.parameters()}
    silent = [one for one in outer if not any(one is other for other in found)]
    return [*found, *(one for one in silent if any(id(weight) not in known for weight in one.parameters()))]


@dataclass(frozen=True, eq=False)
class _Builder:
    engine: Engine | EncoderDecoder
    names: dict[int, str]
    seen: set[int]
    widths: tuple[int, ...]  # of the stream, and of one of its parallel streams
    owners: dict[int, int] = field(default_factory=dict[int, int])  # id of a parameter -> the first layer that has it

    def outer(self, module: nn.Module) -> Part:
        """A module outside the layers, with its own parameters only."""
        model, norm = self.engine.model, norm_of(module, self.widths)
        role = "norm" if norm else "other"
        if module is model.get_output_embeddings():
            role = "head"
        elif isinstance(module, nn.Embedding):
            role = "positions" if len(module.weight) > SEGMENTS else "segments"
            role = "embedding" if module.weight is model.get_input_embeddings().weight else role
        return self._part(self.names[id(module)], module, role, norm or "", recurse=False)

    def block(self, stack: _Stack, place: int) -> Block:
        layer, layer_run, path = stack.layers[place], stack.runs[place], stack.paths[place]
        attention, whole = stack.attention[place], self.names[id(layer)]
        apart = (*attention, *(path.parts[:1] if path else ()))
        experts = own_experts(layer_run, path, alone=len(stack.run_of(place)) == 1)
        ffn = feed_forward(layer_run, apart, None if experts else path)  # with experts, a shared one
        new = {id(one): one.numel() for one in layer.parameters() if id(one) not in self.seen}
        owners = [self.owners.setdefault(id(one), place) for one in layer.parameters()]
        roles = self._own_roles(stack, place)
        parts = tuple(
            self._part(f"{whole}.{name}", layer.get_submodule(name), role, note) for name, role, note in roles
        )
        last = place == stack.run_of(place)[-1]  # the last layer of its run, which gets everything that is in no part
        if last and any(True for _ in layer.parameters(recurse=False)):
            parts = (*parts, self._part(whole, layer, "own", "", recurse=False))
        counted = set(new) if last else set(new) & self.seen
        self.seen.update(counted)
        return Block(
            stack=stack.name,
            layer=place,
            name=whole,
            kind=type(layer).__name__,
            n_parameters=sum(new[one] for one in counted),
            parts=parts,
            norms=_norms(layer_run, path, attention, self.widths),
            parallel=path is not None and path.parallel,
            n_heads=self.engine.structure.n_heads if attention else 0,
            n_kv_heads=self.engine.structure.n_kv_heads if attention else 0,
            **_feed_forward(ffn),
            n_experts=experts.n_experts if experts else 0,
            n_used=experts.n_used if experts else 0,
            experts=f"{whole}.{experts.module}" if experts else "",
            shares=owners[0] if owners and not new else None,
            origin=stack.origins[place] if stack.origins else None,
        )

    def _own_roles(self, stack: _Stack, place: int) -> list[tuple[str, str, str]]:
        """Name, role and note of a layer's parts as they run; for a run of several layers, this one's.

        What a later layer of the run adds to the stream belongs to that layer, whenever it runs.
        """
        layer, same_run = stack.layers[place], stack.run_of(place)
        paths = {one: stack.paths[one] for one in same_run}
        attention = [name for one in same_run for name in stack.attention[one][:1]]
        cross = [name for one in same_run for name in stack.attention[one][1:]]
        known = [path for path in paths.values() if path is not None]
        roles = list(_roles(layer, known, attention, cross, self.widths))
        own = stack.runs[place]
        ran = [event.name for event in (*own.events[own.inherited :], *own.events[: own.inherited])]
        roles.sort(key=lambda one: ran.index(one[0]) if one[0] in ran else len(ran))

        def owner(name: str) -> int:
            for one in same_run:
                path = paths[one]
                if path is not None and any(_same_or_within(name, part) for part in path.parts):
                    return one
            for one in same_run:
                if any(_same_or_within(event.name, name) for event in stack.runs[one].events):
                    return one
            return same_run[-1]

        return [role for role in roles if owner(role[0]) == place]

    def _part(self, name: str, module: nn.Module, role: str, note: str, *, recurse: bool = True) -> Part:
        own = list(module.named_parameters(recurse=recurse))
        new = [one for _, one in own if id(one) not in self.seen]
        self.seen.update(id(one) for one in new)
        weights = tuple(Weight(key, tuple(one.shape), str(one.dtype).removeprefix("torch.")) for key, one in own)
        return Part(name, type(module).__name__, role, sum(one.numel() for one in new), weights, note)


def _feed_forward(found: FeedForward | None) -> dict[str, Any]:
    if found is None:
        return {"width": 0, "activation": "", "gated": False}
    return {"width": found.width, "activation": found.activation, "gated": found.up is not None}


def _roles(
    layer: nn.Module,
    paths: Sequence[BlockPath],
    attention: Sequence[str],
    cross: Sequence[str],
    widths: Sequence[int],
    within: str = "",
) -> Iterator[tuple[str, str, str]]:
    """Name, role and note of a layer's parts: its modules, expanded if attention or a norm is one of several inside."""
    parts = [name for path in paths for name in path.parts]
    norms = [name for path in paths for name in path.norms]
    for key, child in layer.named_children():
        name = f"{within}{key}"
        norm = norm_of(child, widths)
        # A module with parameters of its own around a norm is not expanded, such as one that mixes several streams
        # (DeepSeek-V4).
        whole = any(True for _ in child.parameters(recurse=False)) and _has_norm(child, widths)
        if name in attention:
            yield name, "attention", ""
        elif name in cross:
            yield name, "cross", ""
        elif norm:
            yield name, "norm", norm
        elif not any(True for _ in child.parameters()):
            continue
        elif (
            _holds(name, (*attention, *cross, *norms))
            or (name not in parts and not whole and _has_norm(child, widths))
            or (isinstance(child, nn.ModuleList) and _holds(name, parts))
        ):
            yield from _roles(child, paths, attention, cross, widths, f"{name}.")
        elif any(name == path.parts[0] for path in paths if path.parts):
            yield name, "attention" if attention else "mixer", ""
        else:
            yield name, "other" if whole else "ffn", ""


def _same_or_within(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}.")


def _holds(name: str, others: Iterable[str]) -> bool:
    return any(one.startswith(f"{name}.") for one in others)


def _has_norm(module: nn.Module, widths: Sequence[int]) -> bool:
    return any(norm_of(one, widths) for one in module.modules())


def _norms(layer_run: LayerRun, path: BlockPath | None, attention: tuple[str, ...], widths: Sequence[int]) -> str:
    """The position of a layer's norms, determined by where their outputs go; norms inside a part do not count."""
    if path is not None and path.norms:
        return "post"
    parts = () if path is None else path.parts
    norms = {event.name for event in layer_run.events if norm_of(event.module, widths)}
    apart = {name for name in norms if not any(_holds(one, (name,)) for one in (*attention, *parts))}
    pre, after = bool(apart.difference(parts)), bool(apart.intersection(parts))
    return {(True, False): "pre", (False, True): "after", (True, True): "both"}.get((pre, after), "")
