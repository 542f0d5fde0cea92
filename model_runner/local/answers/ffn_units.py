"""Feed-forward units at a token: how many are active, which add most, and whose logits they raise."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.block_questions import Units
from model_runner.capture import index
from model_runner.errors import NoAttribution, NoLogits
from model_runner.local.answers.attribution import measured_norm
from model_runner.local.answers.block_path import BlockPath
from model_runner.local.answers.block_probe import first_tensor
from model_runner.local.answers.feed_forward import FeedForward
from model_runner.local.answers.layer_stack import LayerStack, feed_forward_of, stack_of
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.loading.dtypes import matrix_of
from model_runner.request import CaptureRequest

PROMOTED = 5  # tokens per unit


def feed_forward_units(
    engine: Engine | EncoderDecoder, request: CaptureRequest, layer: int, position: int, top: int
) -> Units:
    """From one forward of this request. Raises RunnerError."""
    stack = stack_of(engine, request)
    layer, own = feed_forward_of(stack, layer)
    known = stack.feed_forwards()
    position = index("position", position, len(stack.tokens))
    shares = torch.full((len(known), len(stack.tokens)), torch.nan)
    seen: dict[str, Tensor] = {}
    handles = [
        hook
        for place, ffn in enumerate(known)
        if ffn is not None
        for hook in _listen(stack, place, ffn, shares[place], seen if place == layer else None, position)
    ]
    module, path = stack.layers[layer], stack.paths()[layer]
    last = None if path is None or _within(own, path) else module.get_submodule(path.parts[-1])
    if last is not None:
        handles.append(last.register_forward_hook(stack.in_run(layer, _listen_to(seen, position))))
    try:
        stack.forward()
    finally:
        for handle in handles:
            handle.remove()
    added, follows = _columns(module.get_submodule(own.down)) * seen["values"], "unknown"
    normed = added if last is None else _through(last, seen, added)
    if path is not None and normed is not None:
        added, follows = path.factors[-1] * normed, "nothing" if last is None else "norm"
    best = added.norm(dim=0).topk(min(top, added.shape[1]))
    promoted = _promoted(engine, request, layer, position, added[:, best.indices].T)
    return Units(
        activation=own.activation,
        gated=own.up is not None,
        before=seen["before"].cpu(),
        values=seen["values"].cpu(),
        active=shares,
        top=best.indices.cpu(),
        lengths=best.values.cpu(),
        follows=follows,
        promoted=promoted[1].cpu(),
        logits=promoted[0].cpu(),
    )


def _listen(
    stack: LayerStack, place: int, ffn: FeedForward, shares: Tensor, seen: dict[str, Tensor] | None, position: int
) -> Any:
    layer = stack.layers[place]

    def gate(_: nn.Module, __: Any, output: Any) -> None:
        made = first_tensor(output)
        if made is None:
            return
        rows = ffn.gate.of(made).reshape(-1, ffn.width).float()
        shares.copy_((rows > 0).float().mean(dim=-1))
        if seen is not None:
            seen["before"] = rows[position].clone()

    def down(_: nn.Module, args: tuple[Any, ...]) -> None:
        if seen is not None:
            seen["values"] = args[0].reshape(-1, ffn.width)[position].float().clone()

    def made(_: nn.Module, __: Any, output: Tensor) -> None:
        if seen is not None:
            seen["sum"] = output.reshape(-1, output.shape[-1])[position].float().clone()

    yield layer.get_submodule(ffn.gate.module).register_forward_hook(stack.in_run(place, gate))
    yield layer.get_submodule(ffn.down).register_forward_pre_hook(stack.in_run(place, down))
    yield layer.get_submodule(ffn.down).register_forward_hook(stack.in_run(place, made))


def _listen_to(seen: dict[str, Tensor], position: int) -> Any:
    """Input and output at a position of the module that is added to the stream, if it is not part of the network."""

    def norm(_: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        made = first_tensor(output)
        if made is not None and args and torch.is_tensor(args[0]) and args[0].shape == made.shape:
            seen["read"], seen["normed"] = (one.reshape(-1, one.shape[-1])[position].clone() for one in (args[0], made))

    return norm


def _within(ffn: FeedForward, path: BlockPath) -> bool:
    """True if the last matrix is in what is added to the stream, with nothing after it."""
    return f"{ffn.down}.".startswith(f"{path.parts[-1]}.")


def _through(
    last: nn.Module, seen: dict[str, Tensor], added: Float[Tensor, "d_model units"]
) -> Float[Tensor, "d_model units"] | None:
    """Each unit's vector through a norm of their sum, with its statistics fixed; None if it is not such a norm."""
    if "read" not in seen or not torch.equal(seen["read"].float(), seen["sum"]):
        return None
    with torch.no_grad(), contextlib.suppress(NoAttribution):
        return measured_norm(last, seen["read"]).frozen(added.T, seen["read"], seen["normed"]).T
    return None


def _columns(down: nn.Module) -> Float[Tensor, "d_model units"]:
    return matrix_of(down).float()


def _promoted(
    engine: Engine | EncoderDecoder,
    request: CaptureRequest,
    layer: int,
    position: int,
    added: Float[Tensor, "top d_model"],
) -> tuple[Tensor, Tensor]:
    """The logits that each vector raises most, and their tokens, on the direct path; empty if that is not proven."""
    none = torch.zeros(len(added), 0), torch.zeros(len(added), 0, dtype=torch.long)
    if isinstance(engine, EncoderDecoder):
        return none
    path, way = engine.block_paths()[layer], None
    with contextlib.suppress(NoAttribution, NoLogits):
        way = engine.direct_path()
    if way is None or path is None or path.norms or isinstance(way.norm, str) or isinstance(way.offset, str):
        return none
    own = engine.feed_forwards()[layer]
    factor = way.downstream_factor(layer)
    if own is None or not _within(own, path) or factor is None:
        return none  # a norm, or other experts, are between the unit and the stream
    capture = engine.capture(request)
    stream, hidden = capture.residuals[-1][position], capture.hidden[position]
    with torch.no_grad(), contextlib.suppress(NoAttribution):
        logits = [
            way.head(way.norm.frozen(factor * one, stream, hidden).to(hidden.dtype)) - way.offset for one in added
        ]
        found = torch.stack(logits).float().topk(PROMOTED, dim=-1)
        return found.values, found.indices
    return none
