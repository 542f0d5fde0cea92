"""The residual stream of a forward, seen at the layers' own forwards.

While it is watched each layer has a ``forward`` of its own that gives it away and hands on. Hooks would do the same,
but they send every call of a module down torch's slow path: about a twentieth of a decoding step of a small model.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

Take = Callable[[int, Float[Tensor, "tokens d_model"]], None]


@contextlib.contextmanager
def watched(layers: Sequence[nn.Module], take: Take) -> Generator[None]:
    """``take(i, stream)`` is given what enters layer i, and, with the number of layers for i, what leaves the last."""
    last = len(layers) - 1
    before = [vars(layer).get("forward") for layer in layers]  # none: usually it is the class that has it
    for place, layer in enumerate(layers):
        vars(layer)["forward"] = _giving(layer.forward, take, place, place == last)
    try:
        yield
    finally:
        for layer, own in zip(layers, before, strict=True):
            _restore(layer, own)


@contextlib.contextmanager
def outputs_of(module: nn.Module) -> Generator[list[Any]]:
    """The outputs of the module, one for each time it runs."""
    outputs: list[Any] = []
    own, before = module.forward, vars(module).get("forward")

    def giving(*args: Any, **kwargs: Any) -> Any:
        outputs.append(own(*args, **kwargs))
        return outputs[-1]

    vars(module)["forward"] = giving
    try:
        yield outputs
    finally:
        _restore(module, before)


def _restore(module: nn.Module, before: Callable[..., Any] | None) -> None:
    del vars(module)["forward"]
    if before is not None:
        vars(module)["forward"] = before


def _giving(forward: Callable[..., Any], take: Take, place: int, is_last: bool) -> Callable[..., Any]:
    def giving(*args: Any, **kwargs: Any) -> Any:
        hidden = args[0] if args else kwargs["hidden_states"]
        take(place, hidden[0])
        output = forward(*args, **kwargs)
        if is_last:
            take(place + 1, (output if torch.is_tensor(output) else output[0])[0])
        return output

    return giving
