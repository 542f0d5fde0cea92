"""A feed-forward network's effect on the next token: ablated, or patched from another text."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.capture import Capture
from model_runner.errors import EditNotPossible, NotSeparable
from model_runner.local.answers.block_probe import first_tensor
from model_runner.local.answers.head_effects import batches, difference, of_equal_length, said_of
from model_runner.local.answers.layer_stack import stack_of
from model_runner.local.answers.rerun import PartChange, Rerun
from model_runner.local.answers.stream_additions import NOT_APART
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.request import CaptureRequest


def ffn_ablation(
    engine: Engine | EncoderDecoder, rerun: Rerun, layer: int, target: int, against: int | None
) -> float | None:
    """The change of the target's log-probability (nats) when the network adds nothing, at all positions.

    With ``against``, minus the other token's. None if the network cannot be separated or left out.
    """
    try:
        part = _part(engine, rerun.capture.request, layer)
        return float(said_of(rerun.with_part(layer, 1, part, torch.zeros_like), target, against)[0])
    except (NotSeparable, EditNotPossible):
        return None


def ffn_patches(
    engine: Engine | EncoderDecoder, rerun: Rerun, layer: int, source: Capture, tokens: tuple[int, int]
) -> Float[Tensor, "positions"]:
    """Change of two tokens' logit difference when the network's output at one position is the source's.

    Raises NotSeparable, EditNotPossible.
    """
    of_equal_length(rerun.capture, source)
    theirs = _made(engine, source.request, layer)
    part = _part(engine, rerun.capture.request, layer)
    count = len(rerun.capture.tokens)

    def patched(places: list[int]) -> PartChange:
        def change(made: Tensor) -> Tensor:
            made[torch.arange(len(places)), places] = theirs[places].to(made)
            return made

        return change

    found = [
        difference(rerun.with_part(layer, len(places), part, patched(places)), tokens)
        for places in batches(count, count)
    ]
    return torch.cat(found)


def _part(engine: Engine | EncoderDecoder, request: CaptureRequest, layer: int) -> nn.Module:
    """The module whose output is added to the stream. Raises NotSeparable."""
    stack = stack_of(engine, request)
    path = stack.paths()[layer]
    several = bool(stack.origins) and stack.origins[layer].runs > 1
    if path is None or len(path.parts) < 2 or several:
        raise NotSeparable(reason=NOT_APART)
    return stack.layers[layer].get_submodule(path.parts[-1])


def _made(engine: Engine | EncoderDecoder, request: CaptureRequest, layer: int) -> Float[Tensor, "tokens d_model"]:
    """The module's output for this text."""
    seen: list[Tensor] = []

    def hook(_: nn.Module, __: object, output: object) -> None:
        made = first_tensor(output)
        if made is not None:
            seen.append(made.reshape(-1, made.shape[-1]).clone())

    handle = _part(engine, request, layer).register_forward_hook(hook)
    try:
        stack_of(engine, request).forward()
    finally:
        handle.remove()
    return seen[-1]
