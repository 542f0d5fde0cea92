"""Inputs and targets of a training step on a text, and the modules whose gradients are reported."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.errors import NoAttribution
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.recording.encoder_decoder_inspection import run_both
from model_runner.local.recording.recorder import module_of_call
from model_runner.request import CaptureRequest

CLOSE = 1e-5  # of the largest number: a projection's input must be the heads' output


@dataclass(frozen=True, eq=False)
class TrainingExample:
    """``given`` are the model's arguments by name, ``wanted`` the target ids, the first at its first position.

    ``layers`` are those whose gradients are reported, ``projections`` for each the matrix that reads its ``n_heads``
    heads; None if that is not found.
    """

    given: dict[str, Tensor]
    wanted: Int[Tensor, "predicted"]
    layers: tuple[nn.Module, ...]
    n_heads: int
    projections: tuple[nn.Module | None, ...]


def next_token_example(engine: Engine, request: CaptureRequest) -> TrainingExample:
    """Every token but the first is a target, given those before it. Raises NoLogits, and as Engine.write."""
    engine.check_head()
    given = engine.given.of(engine.write(request).tokens)
    layers = tuple(engine.structure.layers)
    projections: list[nn.Module | None] = [None] * len(layers)
    with contextlib.suppress(NoAttribution):
        path = engine.direct_path()
        projections = [None if isinstance(way, str) else way.projection for way in path.layers]
    return TrainingExample(given, given["input_ids"][0, 1:], layers, engine.structure.n_heads, tuple(projections))


def encoder_decoder_example(engine: EncoderDecoder, request: CaptureRequest) -> TrainingExample:
    """The decoder's input is the target shifted by one; it has read the whole source.

    After the target it has to predict the token that ends the source, if that is one of its own; audio has none. The
    layers are those of the request's attention. Raises as EncoderDecoder.capture.
    """
    attention = request.attention or "decoder"
    capture = engine.capture(replace(request, attention="decoder"))
    read, written = capture.attention("cross").keys, [token.id for token in capture.tokens]
    device, end = engine.model.device, [read[-1].id] if read[-1].special else []
    given = {
        **engine.source(request).given,
        "decoder_input_ids": torch.tensor([written], device=device),
    }
    records = capture.attention(attention).records
    outputs = [None if record is None else record.output.flatten(1) for record in records]
    stack, names = engine.structure.stack(attention), engine.structure.attends(attention)
    found = [
        [] if output is None else _linear(engine.model.get_submodule(module_of_call(name)))
        for name, output in zip(names, outputs, strict=True)
    ]
    with _heard([one for own in found for one in own]) as heard:
        run_both(engine.model, engine.source(request).given, given["decoder_input_ids"])
    projections = tuple(
        next((one for one in own if output is not None and _same(heard.get(id(one)), output)), None)
        for own, output in zip(found, outputs, strict=True)
    )
    wanted = torch.tensor([*written[1:], *end], dtype=torch.long, device=device)
    return TrainingExample(given, wanted, stack.layers, stack.heads[attention == "cross"][0], projections)


def _linear(attention: nn.Module) -> list[nn.Module]:
    return [one for one in attention.modules() if isinstance(one, nn.Linear | Conv1D)]


@contextlib.contextmanager
def _heard(modules: list[nn.Module]) -> Generator[dict[int, Float[Tensor, "tokens inputs"]]]:
    """Each module's input in a forward of one text, by its id."""
    found: dict[int, Tensor] = {}

    def keep(module: nn.Module, given: tuple[Any, ...]) -> None:
        found[id(module)] = given[0][0].detach()

    hooks = [one.register_forward_pre_hook(keep) for one in modules]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def _same(given: Tensor | None, output: Float[Tensor, "tokens inputs"]) -> bool:
    if given is None or given.shape != output.shape:
        return False
    output = output.to(given.device, given.dtype)
    return bool((given - output).abs().max() <= CLOSE * output.abs().max())
