"""The stack of layers through which a request's text goes, with one interface for models of one and two stacks.

In an encoder-decoder model the request's attention selects the encoder's or the decoder's.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.capture import index
from model_runner.errors import N_, NotSeparable
from model_runner.layer_origin import LayerOrigin
from model_runner.local.answers.block_path import BlockPath
from model_runner.local.answers.feed_forward import FeedForward
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.recording.encoder_decoder_edits import encoder_decoder_edit
from model_runner.local.recording.encoder_decoder_inspection import AlreadyRead, run_both
from model_runner.local.recording.recorder import ActivationRecorder, record_with
from model_runner.local.recording.residual_stream import outputs_of
from model_runner.local.request_tokens import explained
from model_runner.request import CaptureRequest
from model_runner.tokens import Token

Hook = Callable[..., Any]


NO_UNITS = N_("the feed-forward part of this layer, or its experts, works in a way that is not recognised")


@dataclass(frozen=True, eq=False)
class LayerStack:
    """``names`` are those of its layers; ``forward`` runs the text through it again and returns its last hidden state.

    ``paths`` and ``feed_forwards`` are determined on first access.
    """

    layers: tuple[nn.Module, ...]  # a module that runs several times occurs as often
    names: tuple[str, ...]
    attends: tuple[bool, ...]
    crosses: bool  # whether it has cross-attention
    tokens: tuple[Token, ...]
    forward: Callable[[], Float[Tensor, "tokens d_model"]]
    paths: Callable[[], tuple[BlockPath | None, ...]]
    feed_forwards: Callable[[], tuple[FeedForward | None, ...]]
    origins: tuple[LayerOrigin, ...] = ()  # as in a capture
    begins: Mapping[int, nn.Module] = field(default_factory=dict[int, nn.Module])  # layers within another one's run
    breaks: frozenset[int] = frozenset()  # layers whose input is not the previous layer's output
    n_globals: int = 0  # number of the model's own global tokens, which are the last ones

    def in_run(self, layer: int, hook: Hook) -> Hook:
        """The hook for a module of this layer, restricted to the layer's own run in a forward."""
        if not self.origins or (own := self.origins[layer]).runs == 1:
            return hook
        calls = itertools.count()
        return lambda *seen: hook(*seen) if next(calls) % own.runs == own.run else None


def feed_forward_of(stack: LayerStack, layer: int) -> tuple[int, FeedForward]:
    """The layer, counted from 0, and its feed-forward network. Raises NoSuchPlace, NotSeparable."""
    layer = index("layer", layer, len(stack.layers))
    own = stack.feed_forwards()[layer]
    if own is None:
        raise NotSeparable(reason=NO_UNITS)
    return layer, own


def stack_of(engine: Engine | EncoderDecoder, request: CaptureRequest) -> LayerStack:
    """Raises RunnerError for a text that cannot be read."""
    return _one(engine, request) if isinstance(engine, Engine) else _of_two(engine, request)


def _one(engine: Engine, request: CaptureRequest) -> LayerStack:
    structure, tokens = engine.structure, tuple(engine.write(request).tokens)

    def forward() -> Tensor:
        with explained(engine.info, len(tokens)), torch.no_grad(), contextlib.ExitStack() as stack:
            if request.edits:
                stack.enter_context(record_with(structure.recording(edit=engine.edit(request), keeps=False)))
            given = engine.given.of(tokens)
            return structure.backbone.module(**given, use_cache=False, return_dict=True).last_hidden_state[0]

    return LayerStack(
        layers=structure.layers,
        names=tuple(structure.names[id(layer)] for layer in structure.layers),
        attends=tuple(place in structure.attention for place in range(len(structure.layers))),
        crosses=False,
        tokens=tokens,
        forward=forward,
        paths=engine.block_paths,
        feed_forwards=engine.feed_forwards,
        origins=structure.origins,
        begins=structure.begins,
        breaks=structure.breaks,
    )


def _of_two(engine: EncoderDecoder, request: CaptureRequest) -> LayerStack:
    name = "encoder" if request.attention == "encoder" else "decoder"
    structure, model = engine.structure, engine.model
    capture = engine.capture(request)
    read, written = capture.attention("encoder"), capture.attention("decoder")
    edit = encoder_decoder_edit(request.edits, structure.shapes)

    def changed() -> contextlib.AbstractContextManager[object]:
        return (
            record_with(ActivationRecorder(structure.names, edit=edit, keeps=False))
            if edit
            else contextlib.nullcontext()
        )

    def encode() -> Tensor:
        with explained(engine.info, len(read.tokens)), torch.no_grad(), changed():
            return model.get_encoder()(**engine.source(request).given).last_hidden_state[0]

    def decode() -> Tensor:
        made = read.hidden[: len(read.tokens) - structure.n_globals]
        already = AlreadyRead(last_hidden_state=made[None])  # type: ignore[arg-type]  # as torch has it
        with explained(engine.info, len(written.tokens)), outputs_of(structure.backbone.module) as last, changed():
            run_both(engine.reader, {"encoder_outputs": already}, _ids(written.tokens, model.device))
        return last[-1].last_hidden_state[0]

    layers = getattr(structure, name).layers
    return LayerStack(
        layers=layers,
        names=tuple(structure.names[id(layer)] for layer in layers),
        attends=(True,) * len(layers),
        crosses=name == "decoder",
        tokens=read.tokens if name == "encoder" else written.tokens,
        forward=encode if name == "encoder" else decode,
        paths=lambda: engine.block_paths(name),
        feed_forwards=lambda: engine.feed_forwards(name),
        n_globals=structure.n_globals if name == "encoder" else 0,
    )


def _ids(tokens: tuple[Token, ...], device: torch.device) -> Tensor:
    return torch.tensor([[token.id for token in tokens]], device=device)
