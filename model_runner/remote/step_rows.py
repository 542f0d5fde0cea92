"""The steps of a growing text: only new rows are sent, and appended to the earlier ones on arrival.

A step's capture reaches from the first token to the new one; sending it whole would cost n² rows for n tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from model_runner.capture import Capture
from model_runner.record import LayerRecord
from model_runner.rotary import Rotation
from model_runner.step import Step
from model_runner.tokens import Token

Part = Callable[[str, Tensor, int], Tensor]  # maps a tensor, given its name, the tensor, and its row dimension


def new_rows(step: Step, start: int) -> Step:
    """The step with only the rows of its capture from ``start`` on; unchanged for two stacks, whose texts are short."""

    def cut(_name: str, tensor: Tensor, dim: int) -> Tensor:
        return tensor.narrow(dim, start, tensor.shape[dim] - start)

    if start == 0 or not _grows(step.capture):
        return step
    return _with_rows(step, step.capture.tokens[start:], cut)


class GrowingSteps:
    """Assembles the steps of one text; steps returned earlier never change."""

    def __init__(self) -> None:
        self._held: dict[str, Tensor] = {}
        self._tokens: tuple[Token, ...] = ()

    @property
    def count(self) -> int:
        """The number of rows received so far."""
        return len(self._tokens)

    def step(self, step: Step) -> Step:
        """The whole step, from one that has the rows from :attr:`count` on."""
        if not _grows(step.capture):
            return step
        whole = _with_rows(step, (*self._tokens, *step.capture.tokens), self._grown)
        self._tokens = whole.capture.tokens
        return whole

    def _grown(self, name: str, new: Tensor, dim: int) -> Tensor:
        start, stop = self.count, self.count + new.shape[dim]
        held = self._held.get(name)
        if held is None or held.shape[dim] < stop:
            shape = list(new.shape)
            shape[dim] = max(2 * stop, 64)
            room = new.new_empty(shape)
            if held is not None:
                room.narrow(dim, 0, start).copy_(held.narrow(dim, 0, start))
            self._held[name] = held = room
        held.narrow(dim, start, stop - start).copy_(new)
        return held.narrow(dim, 0, stop)


def _grows(capture: Capture) -> bool:
    return not capture.others and capture.source is None


def _with_rows(step: Step, tokens: tuple[Token, ...], part: Part) -> Step:
    capture = step.capture
    made = replace(
        capture,
        tokens=tokens,
        records=tuple(
            None if record is None else _record(record, f"{layer}", part)
            for layer, record in enumerate(capture.records)
        ),
        residuals=tuple(part(f"residual {at}", one, 0) for at, one in enumerate(capture.residuals)),
        hidden=part("hidden", capture.hidden, 0),
    )
    return replace(step, capture=made)


def _record(record: LayerRecord, name: str, part: Part) -> LayerRecord:
    rotation = record.rotation
    if isinstance(rotation, Rotation):
        turned = {one: part(f"{name} {one}", getattr(rotation, one), -2) for one in ("cos", "sin")}
        rotation = replace(rotation, **turned)
    return replace(
        record,
        q=part(f"{name} q", record.q, 1),
        k=part(f"{name} k", record.k, 1),
        v=part(f"{name} v", record.v, 1),
        output=part(f"{name} output", record.output, 0),
        rotation=rotation,
    )
