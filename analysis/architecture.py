"""A model's architecture as rows from top to bottom, with one token's vector at each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import Tensor

from analysis.joined import decoder_side
from analysis.mask_effect import looks_ahead
from analysis.next_token import next_tokens
from model_runner.block_questions import Additions, Architecture, Block, Part
from model_runner.capture import Capture
from model_runner.errors import NoLogits


@dataclass(frozen=True, eq=False)
class ArchitectureStage:
    """``role`` is a Part's, or "tokenizer" or "block".

    ``vector`` is the token's stream after it, or what a part inside a block adds (``adds``); None if unknown. ``block``
    is the index of its block.
    """

    role: str
    part: Part | None
    block: Block | None = None
    index: int | None = None
    open: bool = False
    vector: Float[np.ndarray, "d_model"] | None = None
    adds: bool = False

    @property
    def n_parameters(self) -> int:
        if self.part is not None:
            return self.part.n_parameters
        return 0 if self.block is None else self.block.n_parameters

    @property
    def shapes(self) -> list[str]:
        """Shapes of its matrices, such as 256×688, with their number if more than one."""
        weights = () if self.part is None else self.part.weights
        every = ["×".join(map(str, one.shape)) for one in weights if len(one.shape) > 1]
        every = every or ["×".join(map(str, one.shape)) for one in weights]
        counts = {shape: every.count(shape) for shape in every}
        return [shape if count == 1 else f"{count} · {shape}" for shape, count in counts.items()]


@dataclass(frozen=True)
class LikeliestToken:
    """The model's likeliest token: after the one at ``position``, or in its place if it is masked."""

    token: int
    probability: float
    position: int
    hidden: bool


def said(capture: Capture, position: int) -> LikeliestToken | None:
    """The model's prediction for its text, exact over the whole vocabulary.

    For an encoder-decoder, at a position of the target. For a bidirectional model, the prediction for the masked word
    at this position, or for the first one; None if no word is masked, or without an output layer.
    """
    capture = decoder_side(capture)
    hidden = [place for place, token in enumerate(capture.tokens) if token.hidden]
    looking = looks_ahead(capture)
    if looking and not hidden:
        return None
    place = position if not looking or position in hidden else hidden[0]
    try:
        found = next_tokens(capture, place, count=1)
    except NoLogits:
        return None
    return LikeliestToken(found.ids[0], found.probabilities[0], place, looking)


def stages(
    made: Architecture, opened: int, capture: Capture | None, added: Additions | None, position: int
) -> list[ArchitectureStage]:
    """From the tokenizer to the output layer; block number ``opened`` shows its parts.

    For an encoder-decoder only the stack of the capture's own tokens has vectors.
    """
    streams = _Streams(made, capture, added, position)
    found = [ArchitectureStage("tokenizer", None)]
    found += [ArchitectureStage(one.role, one, vector=streams.at(one)) for one in made.before]
    for index, block in enumerate(made.blocks):
        if index and block.stack != made.blocks[index - 1].stack:
            found += [ArchitectureStage(one.role, one, vector=streams.at(one)) for one in made.between]
        is_open, inside = index == opened, streams.added(block, added)
        found.append(ArchitectureStage("block", None, block, index, is_open, streams.after(block)))
        if is_open:
            found += [
                ArchitectureStage(one.role, one, block, vector=own, adds=True) for one, own in _inside(block, inside)
            ]
    return found + [ArchitectureStage(one.role, one, vector=streams.at(one)) for one in made.after]


class _Streams:
    """Where a token's vector passes: the part that it leaves before the first block, and after the last."""

    def __init__(self, made: Architecture, capture: Capture | None, added: Additions | None, position: int) -> None:
        self._leaving = {} if added is None else _before_breaks(added)
        self._capture, self._position = capture, position
        stacks = {block.stack for block in made.blocks}
        asked = "" if capture is None else capture.request.attention
        self._stack = ("encoder" if asked == "encoder" else "decoder") if stacks != {""} else ""
        first, last = list(made.before), list(made.after)
        if self._stack:
            (within, *_rest) = [f"{one.name.rsplit('.', 2)[0]}." for one in made.blocks if one.stack == self._stack]
            own = [part for part in made.between if part.name.startswith(within)]
            if self._stack == "encoder":
                last = own
            else:  # a table shared by both is before the encoder
                first = own or [part for part in first if part.role == "embedding"]
        self._first = first[-1].name if first else None
        # a norm before another part belongs to that part, as in an encoder's output layer
        self._last = last[0].name if last and last[0].role == "norm" else None

    def at(self, part: Part) -> np.ndarray | None:
        """The stream after a part outside the blocks."""
        if self._capture is None or part.name not in (self._first, self._last):
            return None
        return _vector(self._capture.residuals[0] if part.name == self._first else self._capture.hidden, self._position)

    def after(self, block: Block) -> np.ndarray | None:
        """The stream after a block."""
        if self._capture is None or block.stack != self._stack:
            return None
        if block.layer in self._leaving:
            return self._leaving[block.layer]
        return _vector(self._capture.residuals[block.layer + 1], self._position)

    def added(self, block: Block, added: Additions | None) -> Additions | None:
        """The additions in this block, if it belongs to this stack."""
        return added if block.stack == self._stack else None


def _before_breaks(added: Additions) -> dict[int, np.ndarray]:
    """Outputs of layers whose successor's input is another vector."""
    sums = added.vectors.double().cumsum(dim=0).numpy()
    return {
        step.layer - 1: sums[place - 1]
        for place, step in enumerate(added.steps)
        if step.part == "between" and step.layer is not None
    }


def _inside(block: Block, added: Additions | None) -> Iterator[tuple[Part, np.ndarray | None]]:
    """The parts of a block, each with what it adds to the stream, if anything."""
    by_name: dict[str, np.ndarray] = {}
    if added is not None:
        for step, vector in zip(added.steps, added.vectors, strict=True):
            # a step for the whole layer belongs to no single part
            if step.layer == block.layer and step.part not in ("norm", "layer"):
                by_name[step.module] = vector.double().numpy()
    for part in block.parts:
        yield part, next((own for name, own in by_name.items() if _one_in_other(part.name, name)), None)


def _one_in_other(name: str, other: str) -> bool:
    return f"{name}.".startswith(f"{other}.") or f"{other}.".startswith(f"{name}.")


def _vector(rows: Float[Tensor, "tokens d_model"], position: int) -> np.ndarray:
    return rows[position].float().cpu().double().numpy()
