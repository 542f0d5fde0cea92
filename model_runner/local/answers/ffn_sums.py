"""The sums of feed-forward units: the network's input, the units' columns, and what each adds."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from model_runner.block_questions import UnitSums
from model_runner.capture import index
from model_runner.local.answers.block_probe import first_tensor
from model_runner.local.answers.feed_forward import FeedForward, Half
from model_runner.local.answers.layer_stack import LayerStack, feed_forward_of, stack_of
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.loading.dtypes import matrix_of
from model_runner.request import CaptureRequest


def feed_forward_sums(
    engine: Engine | EncoderDecoder, request: CaptureRequest, layer: int, position: int, units: int
) -> UnitSums:
    """From one forward of this request. Raises RunnerError."""
    stack = stack_of(engine, request)
    layer, own = feed_forward_of(stack, layer)
    position = index("position", position, len(stack.tokens))
    seen = _heard(stack, layer, own, position)
    module = stack.layers[layer]
    down = module.get_submodule(own.down)
    rows = matrix_of(down).float().T
    top = (rows.norm(dim=1) * seen["values"].abs()).topk(min(units, own.width)).indices
    gate, gate_bias = _columns(module, own.gate, top)
    up, up_bias = (None, None) if own.up is None else _columns(module, own.up, top)
    bias: Any = getattr(down, "bias", None)
    return UnitSums(
        units=top.cpu(),
        activation=own.activation,
        width=own.width,
        read=seen["read"].cpu(),
        gate=gate,
        gate_bias=gate_bias,
        before=seen["before"][top].cpu(),
        up=up,
        up_bias=up_bias,
        raised=None if own.up is None else seen["raised"][top].cpu(),
        values=seen["values"][top].cpu(),
        down=rows[top].cpu(),
        down_bias=None if bias is None else bias.detach().float().cpu(),
        added=seen["added"].cpu(),
    )


def _heard(stack: LayerStack, layer: int, own: FeedForward, position: int) -> dict[str, Tensor]:
    """At one position the first matrix's input, each matrix's output, and the last one's input and output."""
    seen: dict[str, Tensor] = {}
    module = stack.layers[layer]

    def row(tensor: Any, width: int) -> Tensor:
        return tensor.reshape(-1, width)[position].float().clone()

    def first(_: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        made = first_tensor(output)
        if made is not None and args and torch.is_tensor(args[0]):
            seen["read"] = row(args[0], args[0].shape[-1])
            seen["before"] = row(own.gate.of(made), own.width)

    def second(_: nn.Module, __: Any, output: Any) -> None:
        made = first_tensor(output)
        if made is not None and own.up is not None:
            seen["raised"] = row(own.up.of(made), own.width)

    def last(_: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        made = first_tensor(output)
        if made is not None:
            seen["values"], seen["added"] = row(args[0], own.width), row(made, made.shape[-1])

    heard = [(own.gate.module, first), (own.down, last), *([] if own.up is None else [(own.up.module, second)])]
    handles = [module.get_submodule(name).register_forward_hook(stack.in_run(layer, hook)) for name, hook in heard]
    try:
        stack.forward()
    finally:
        for handle in handles:
            handle.remove()
    return seen


def _columns(layer: nn.Module, half: Half, units: Tensor) -> tuple[Tensor, Tensor | None]:
    """Columns of these units, ``[d_model, units]``, and their bias."""
    module = layer.get_submodule(half.module)
    weight: Tensor = matrix_of(module).detach().float()
    bias: Any = getattr(module, "bias", None)
    if half.half is not None:
        weight = weight.chunk(2, dim=0)[half.half]
        bias = None if bias is None else bias.chunk(2)[half.half]
    return weight[units].T.cpu(), None if bias is None else bias.detach().float()[units].cpu()
