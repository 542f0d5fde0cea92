"""The inputs and outputs of every module inside the layers, in one forward of a few tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from model_runner.local.recording.parity_check import text_config
from model_runner.local.recording.residual_stream import watched

TOKENS = 6


@dataclass(frozen=True, eq=False)
class Event:
    """One module's run: its name within its layer, all tensors of its input, and the first of its output."""

    name: str
    module: nn.Module
    given: tuple[Tensor, ...]
    made: Tensor


@dataclass(eq=False)
class LayerRun:
    """A layer's run: its input and output, ``[tokens, d_model]``, and its modules, each after those inside it.

    The first ``inherited`` ones ran before it started, in the previous layer of the same run of a module.
    """

    entering: Tensor
    leaving: Tensor
    events: list[Event] = field(default_factory=list[Event])
    inherited: int = 0

    def stream(self, tensor: Tensor) -> Tensor | None:
        """The tensor as rows of the stream's width, if it has one row per token; some parts omit the batch axis."""
        return tensor.reshape(self.entering.shape) if tensor.numel() == self.entering.numel() else None


def probe(
    model: Any,
    layers: tuple[nn.Module, ...],
    forward: Callable[[Tensor], Any],
    *,
    cut: int | None = None,
    begins: Mapping[int, nn.Module] | None = None,
) -> list[LayerRun]:
    """One run of each layer over the first tokens of the vocabulary; ``forward`` runs the model on ids.

    If layers get ``cut`` rows in any case, the first TOKENS of them are kept. ``begins`` is as for :func:`watched`: of
    layers in one run of a module, a later one also has the earlier events.
    """
    seen: list[list[Event]] = []
    inherited: list[int] = []
    entering: dict[int, Tensor] = {}
    leaving: dict[int, Tensor] = {}

    def enter(place: int, stream: Tensor) -> None:
        if place < len(layers):
            entering[place] = _kept(stream, cut)
            seen.append(list(seen[-1]) if begins and place in begins else [])
            inherited.append(len(seen[-1]))

    def leave(place: int, stream: Tensor) -> None:
        leaving[place] = _kept(stream, cut)

    def running(layer: nn.Module) -> list[Event] | None:
        return seen[-1] if seen and layers[len(seen) - 1] is layer else None

    handles = [
        module.register_forward_hook(_listen(running, layer, name, cut), with_kwargs=True)
        for layer in dict.fromkeys(layers)
        for name, module in layer.named_modules()
        if name
    ]
    ids = torch.arange(TOKENS, device=model.device)[None] % text_config(model).vocab_size
    try:
        with torch.no_grad(), watched(layers, enter, begins, leave):
            forward(ids)
    finally:
        for handle in handles:
            handle.remove()
    return [LayerRun(entering[place], leaving[place], seen[place], inherited[place]) for place in range(len(layers))]


def _listen(running: Callable[[nn.Module], list[Event] | None], layer: nn.Module, name: str, cut: int | None) -> Any:
    def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        made, events = first_tensor(output), running(layer)
        given = tuple(_kept(one, cut) for one in (*args, *kwargs.values()) if torch.is_tensor(one))
        if made is not None and events is not None:  # cloned, since some families add to it in place
            events.append(Event(name, module, given, _kept(made, cut)))

    return hook


def _kept(tensor: Tensor, cut: int | None) -> Tensor:
    rows = tensor.dim() > 1 and tensor.shape[-2] == cut
    return tensor[..., :TOKENS, :].clone() if rows else tensor.clone()


def first_tensor(output: Any) -> Tensor | None:
    """The first tensor of a module's output."""
    first = output[0] if isinstance(output, tuple) and output else output
    return first if torch.is_tensor(first) else None
