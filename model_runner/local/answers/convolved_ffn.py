"""A feed-forward network with a depth-wise convolution over tokens between its matrices, like SANA's Mix-FFN.

SANA (Xie et al. 2024, arXiv:2410.10629, section 2.2) convolves the output of the first matrices, each unit separately,
before gating. Its kernel is learned, 3 × 3 in the plane of an image; here it is three numbers along the text, shared by
all units.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.block_questions import Convolved
from model_runner.local.answers.layer_stack import feed_forward_of, stack_of
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.request import CaptureRequest


def convolved_ffn(
    engine: Engine | EncoderDecoder, request: CaptureRequest, layer: int, kernel: tuple[float, float, float], ahead: int
) -> Convolved:
    """Two forwards, with and without the convolution. Raises RunnerError."""
    stack = stack_of(engine, request)
    layer, own = feed_forward_of(stack, layer)
    module, made = stack.layers[layer], list[Tensor]()

    def keep(_: nn.Module, __: Any, output: Tensor) -> None:
        made.append(output.reshape(-1, output.shape[-1]).float().cpu())

    def convolve(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        rows = output.reshape(-1, output.shape[-1])
        return depth_wise(rows, kernel, ahead).reshape(output.shape).to(output.dtype)

    first = {half.module for half in (own.gate, own.up) if half is not None}  # both halves of a fused matrix at once
    handles = [module.get_submodule(own.down).register_forward_hook(stack.in_run(layer, keep))]
    try:
        stack.forward()
        handles += [
            module.get_submodule(name).register_forward_hook(stack.in_run(layer, convolve)) for name in sorted(first)
        ]
        hidden = stack.forward()
    finally:
        for handle in handles:
            handle.remove()
    return Convolved(made[0], made[1], hidden.float().cpu())


def depth_wise(
    rows: Float[Tensor, "tokens units"], kernel: tuple[float, float, float], ahead: int
) -> Float[Tensor, "tokens units"]:
    """Each unit over three consecutive tokens, the last of them ``ahead`` of the token; 0 beyond the text."""
    padded = nn.functional.pad(rows.T[None].float(), (2 - ahead, ahead))
    weight = torch.tensor(kernel, dtype=padded.dtype, device=rows.device).expand(rows.shape[1], 1, 3)
    return nn.functional.conv1d(padded, weight, groups=rows.shape[1])[0].T
