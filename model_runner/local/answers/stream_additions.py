"""What is added to the residual stream in a forward: by which module, its norm, and one token's vectors."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.block_questions import Additions, StepName
from model_runner.capture import index
from model_runner.errors import N_, NotSeparable
from model_runner.local.answers.block_path import BlockPath
from model_runner.local.answers.block_probe import first_tensor
from model_runner.local.answers.layer_stack import LayerStack, stack_of
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.recording.global_tokens import without_padding
from model_runner.local.recording.residual_stream import watched
from model_runner.request import CaptureRequest

NOT_APART = N_("what this layer adds to the residual stream cannot be split into its parts")
Rows = Float[Tensor, "tokens d_model"]


def stream_additions(engine: Engine | EncoderDecoder, request: CaptureRequest, position: int) -> Additions:
    """From one forward of this request. Raises RunnerError."""
    stack = stack_of(engine, request)
    taking = _Taking(stack, stack.paths(), index("position", position, len(stack.tokens)))
    with taking.listening():
        stack.forward()
    return Additions(
        steps=tuple(taking.steps),
        vectors=torch.stack(taking.vectors).cpu(),
        lengths=torch.stack(taking.lengths).cpu(),
        streams=torch.stack(taking.streams).cpu(),
        parallel=tuple(layer for layer, path in enumerate(taking.paths) if path is not None and path.parallel),
    )


def added_by_part(engine: Engine | EncoderDecoder, request: CaptureRequest, layer: int, part: str) -> Rows:
    """From one forward of this request. Raises NotSeparable, and as a forward."""
    stack = stack_of(engine, request)
    taking = _Taking(stack, stack.paths(), 0, whole=(layer, part))
    with taking.listening():
        stack.forward()
    if taking.rows is None:
        raise NotSeparable(reason=NOT_APART)
    return taking.rows.cpu()


@dataclass(eq=False)
class _Taking:
    """Reduces every layer to its steps as soon as its output is there; float32 sums of the model's own numbers."""

    stack: LayerStack
    paths: tuple[BlockPath | None, ...]
    position: int
    whole: tuple[int, str] | None = None  # the layer and part of which every row is kept
    rows: Rows | None = None
    steps: list[StepName] = field(default_factory=list[StepName])
    vectors: list[Tensor] = field(default_factory=list[Tensor])
    lengths: list[Tensor] = field(default_factory=list[Tensor])
    streams: list[Tensor] = field(default_factory=list[Tensor])
    entering: Tensor = field(default_factory=lambda: torch.zeros(0))
    leaving: Tensor = field(default_factory=lambda: torch.zeros(0))
    seen: dict[str, Tensor] = field(default_factory=dict[str, Tensor])  # outputs by name of the layer that is running

    @contextlib.contextmanager
    def listening(self) -> Generator[None]:
        handles: list[Any] = []
        for layer, path in enumerate(self.paths):
            for name in () if path is None else (*path.parts, *path.norms):
                module = self.stack.layers[layer].get_submodule(name)
                handles.append(module.register_forward_hook(self._hear(name)))
        try:
            with watched(self.stack.layers, self._enter, self.stack.begins, self._leave):
                yield
        finally:
            for handle in handles:
                handle.remove()

    def _hear(self, name: str) -> Any:
        def hook(_: nn.Module, __: Any, output: Any) -> None:
            made = first_tensor(output)
            if made is not None:
                self.seen[name] = made.detach().float().clone()

        return hook

    def _leave(self, place: int, stream: Tensor) -> None:
        self.leaving = stream.float().clone()
        self._layer(place, self.leaving)

    def _enter(self, place: int, stream: Tensor) -> None:
        stream = stream.float().clone()
        if place == 0:
            self._add(StepName(None, "embedding", ""), stream, stream)
        elif place in self.stack.breaks:
            self._add(StepName(place, "between", ""), stream - self.leaving, stream)
        self.entering = stream
        if place not in self.stack.begins:
            self.seen.clear()

    def _layer(self, layer: int, leaving: Rows) -> None:
        path, entering = self.paths[layer], self.entering
        first = "attention" if self.stack.attends[layer] else "mixer"
        whole = self.stack.names[layer]
        if path is None or any(name not in self.seen for name in path.parts):
            self._add(StepName(layer, "layer", whole), leaving - entering, leaving)
            return
        now = entering
        if path.skip != 1:
            now = path.skip * now
            self._add(StepName(layer, "scale", whole), now - entering, now)
        for place, (name, factor) in enumerate(zip(path.parts, path.factors, strict=True)):
            added = factor * self.seen[name].reshape(entering.shape)
            now = now + added
            last = place == len(path.parts) - 1
            part = first if place == 0 else "cross" if self.stack.crosses and not last else "ffn"
            self._add(StepName(layer, part, f"{whole}.{name}"), added, leaving if last and not path.norms else now)
            if path.norms:
                norm = path.norms[place]
                after = leaving if last else self.seen[norm].reshape(entering.shape)
                self._add(StepName(layer, "norm", f"{whole}.{norm}"), after - now, after)
                now = after

    def _add(self, step: StepName, added: Rows, stream: Rows) -> None:
        n_tokens, n_globals = len(self.stack.tokens), self.stack.n_globals
        added, stream = (without_padding(one, n_tokens, n_globals) for one in (added, stream))
        if (step.layer, step.part) == self.whole:
            self.rows = added
        self.steps.append(step)
        self.vectors.append(added[self.position])
        self.lengths.append(added.norm(dim=-1))
        self.streams.append(stream.norm(dim=-1))
