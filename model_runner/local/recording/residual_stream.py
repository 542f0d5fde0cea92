"""Observes the residual stream of a forward at the layers' own ``forward`` methods.

While observed, each layer has a ``forward`` of its own that reports the stream and then calls the original. Hooks would
do the same, but they send every call of a module down torch's slow path: about a twentieth of a decoding step of a
small model.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn

OF_TEXT_AND_GLOBALS = "PegasusXEncoderLayer"  # returns two streams; here the rows of one follow those of the other

Take = Callable[[int, Float[Tensor, "tokens d_model"]], None]
Forward = Callable[..., Any]
Rows: TypeAlias = Callable[[Tensor], Tensor]


@contextlib.contextmanager
def standing_in(modules: Sequence[nn.Module], instead: Callable[[int, Forward], Forward]) -> Generator[None]:
    """Replace each module's forward by what ``instead`` makes from its index and its original forward."""
    before = [vars(module).get("forward") for module in modules]  # usually none: the method is the class's
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
def watched(
    layers: Sequence[nn.Module],
    take: Take,
    begins: Mapping[int, nn.Module] | None = None,
    leave: Take | None = None,
    rows: Rows | None = None,
) -> Generator[None]:
    """Call ``take(i, stream)`` with the input of layer i and, with the number of layers for i, the output of the last.

    Every i comes once per forward, in order. The input of a layer that does not run is that of the next layer that
    does; if the last layers do not run, the output is reported at the end. A module that runs several times is in
    ``layers`` as often. A layer in ``begins`` starts inside the module of the layer before it: its stream is the input
    of the module given there. ``leave(i, stream)`` is called with the output of layer i, which need not be the input of
    the next. ``rows`` converts a layer's own tensor; None: for the one text of a batch.
    """
    begins = begins or {}
    passing = _Passing(len(layers), take, leave or (lambda _, __: None))
    runs: dict[nn.Module, list[int]] = {}
    for place, module in enumerate(layers):
        runs.setdefault(begins.get(place, module), []).append(place)
    every = list(runs)

    def instead(number: int, forward: Forward) -> Forward:
        places = runs[every[number]]
        if places[0] in begins:
            return _entering(forward, passing, places, rows or _rows)
        ends = {place: _last_part(place, begins) for place in places}
        return _giving(forward, passing, places, ends, rows or _rows)

    with standing_in(every, instead):
        yield
    passing.end()


def _last_part(place: int, begins: Mapping[int, nn.Module]) -> int:
    """The last layer in the module run that begins with this layer."""
    while place + 1 in begins:
        place += 1
    return place


class _Passing:
    """How far a forward has come. Mllama's layers that attend to an image do not run without one."""

    def __init__(self, count: int, take: Take, leave: Take) -> None:
        self.count, self.take, self.on_leave, self.next = count, take, leave, 0
        self.left: Tensor | None = None  # the output of the last layer that ran

    def place_of(self, places: Sequence[int]) -> int:
        """Which of its layers a module is now; the first one at the start of a new forward."""
        return next((place for place in places if place >= self.next), places[0])

    def enter(self, place: int, stream: Tensor) -> None:
        if place < self.next:
            self.end()
        for one in range(self.next, place + 1):
            self.take(one, stream)
            if one < place:
                self.on_leave(one, stream)
        self.next = place + 1

    def leave(self, place: int, stream: Tensor) -> None:
        self.left = stream
        self.on_leave(place, stream)
        if place == self.count - 1:
            self.end()

    def end(self) -> None:
        """End a forward that began."""
        if self.left is not None:
            for one in range(self.next, self.count + 1):
                self.take(one, self.left)
                if one < self.count:
                    self.on_leave(one, self.left)
        self.next, self.left = 0, None


@contextlib.contextmanager
def outputs_of(module: nn.Module) -> Generator[list[Any]]:
    """Collect the outputs of the module, one for each time it runs."""
    outputs: list[Any] = []

    def instead(_: int, forward: Forward) -> Forward:
        def giving(*args: Any, **kwargs: Any) -> Any:
            outputs.append(forward(*args, **kwargs))
            return outputs[-1]

        return giving

    with standing_in([module], instead):
        yield outputs


def _giving(forward: Forward, passing: _Passing, places: Sequence[int], ends: Mapping[int, int], rows: Rows) -> Forward:
    def giving(*args: Any, **kwargs: Any) -> Any:
        place = passing.place_of(places)
        if "prev_attn_output" in kwargs:  # Reformer's layers return two streams, which are concatenated here
            passing.enter(place, rows(torch.cat([kwargs["prev_attn_output"], kwargs["hidden_states"]], dim=-1)))
            output = forward(*args, **kwargs)
            passing.leave(ends[place], rows(torch.cat([output.attn_output, output.hidden_states], dim=-1)))
            return output
        if type(getattr(forward, "__self__", None)).__name__ == OF_TEXT_AND_GLOBALS:
            passing.enter(place, rows(torch.cat(args[:2], dim=1)))
            output = forward(*args, **kwargs)
            passing.leave(ends[place], rows(torch.cat(output, dim=1)))
            return output
        passing.enter(place, rows(args[0] if args else kwargs["hidden_states"]))
        output = forward(*args, **kwargs)
        passing.leave(ends[place], rows(output if torch.is_tensor(output) else output[0]))
        return output

    return giving


def _entering(forward: Forward, passing: _Passing, places: Sequence[int], rows: Rows) -> Forward:
    """A forward for a module at which a layer begins inside the module of the layer before it."""

    def entering(*args: Any, **kwargs: Any) -> Any:
        place, stream = passing.place_of(places), rows(args[0] if args else kwargs["hidden_states"])
        passing.on_leave(place - 1, stream)
        passing.enter(place, stream)
        return forward(*args, **kwargs)

    return entering


def _rows(hidden: Tensor) -> Tensor:
    """The rows of the one text of a batch; of Gemma 3n's parallel streams (AltUp), the first, which its layers read.

    XLNet's layers have the tokens first, then the texts. HY-V4's several streams of each token are concatenated.
    """
    if hidden.dim() == 3 and hidden.shape[1] == 1 < len(hidden):
        return hidden[:, 0]
    if hidden.dim() == 4:
        return hidden[0].flatten(1) if len(hidden) == 1 else hidden[0, 0]
    return hidden[0]
