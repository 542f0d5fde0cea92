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
Forward = Callable[..., Any]


@contextlib.contextmanager
def standing_in(modules: Sequence[nn.Module], instead: Callable[[int, Forward], Forward]) -> Generator[None]:
    """Each module runs what ``instead`` makes of its place among them and the forward that it has."""
    before = [vars(module).get("forward") for module in modules]  # none: usually it is the class that has it
    for place, module in enumerate(modules):
        vars(module)["forward"] = instead(place, module.forward)
    try:
        yield
    finally:
        for module, own in zip(modules, before, strict=True):
            del vars(module)["forward"]
            if own is not None:
                vars(module)["forward"] = own


@contextlib.contextmanager
def watched(layers: Sequence[nn.Module], take: Take) -> Generator[None]:
    """``take(i, stream)`` is given what enters layer i, and, with the number of layers for i, what leaves the last."""
    last = len(layers) - 1
    with standing_in(layers, lambda place, forward: _giving(forward, take, place, place == last)):
        yield


@contextlib.contextmanager
def outputs_of(module: nn.Module) -> Generator[list[Any]]:
    """The outputs of the module, one for each time it runs."""
    outputs: list[Any] = []

    def instead(_: int, forward: Forward) -> Forward:
        def giving(*args: Any, **kwargs: Any) -> Any:
            outputs.append(forward(*args, **kwargs))
            return outputs[-1]

        return giving

    with standing_in([module], instead):
        yield outputs


def _giving(forward: Forward, take: Take, place: int, is_last: bool) -> Forward:
    def giving(*args: Any, **kwargs: Any) -> Any:
        hidden = args[0] if args else kwargs["hidden_states"]
        take(place, hidden[0])
        output = forward(*args, **kwargs)
        if is_last:
            take(place + 1, (output if torch.is_tensor(output) else output[0])[0])
        return output

    return giving
