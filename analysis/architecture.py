"""What a model is made of as rows from top to bottom, with the vector of one token where it passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model_runner.block_questions import Additions, Architecture, Block, Part
from model_runner.capture import Capture


@dataclass(frozen=True, eq=False)
class Stage:
    """``role`` is a Part's, or "tokenizer" or "block"; ``vector`` is what the token's stream is after it, or what a
    part inside a block adds (``adds``); None where nothing of the kind is known. ``block`` is the index of its block.
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
        """Of its matrices, each as 256×688, with how often it occurs where that is more than once."""
        weights = () if self.part is None else self.part.weights
        every = ["×".join(map(str, one.shape)) for one in weights if len(one.shape) > 1]
        every = every or ["×".join(map(str, one.shape)) for one in weights]
        counts = {shape: every.count(shape) for shape in every}
        return [shape if count == 1 else f"{count} · {shape}" for shape, count in counts.items()]


def stages(
    made: Architecture, opened: int, capture: Capture | None, added: Additions | None, position: int
) -> list[Stage]:
    """From the tokenizer to the output layer; block number ``opened`` shows its parts."""
    found = [Stage("tokenizer", None)]
    first = _vector(None if capture is None else capture.residuals[0], position)
    last_before = len(made.before) - 1
    found += [Stage(one.role, one, vector=first if i == last_before else None) for i, one in enumerate(made.before)]
    for index, block in enumerate(made.blocks):
        if index and block.stack != made.blocks[index - 1].stack:
            found += [Stage(one.role, one) for one in made.between]
        after = None if capture is None else _vector(capture.residuals[block.layer + 1], position)
        is_open = index == opened
        found.append(Stage("block", None, block, index, is_open, after))
        if is_open:
            found += [Stage(one.role, one, block, vector=own, adds=True) for one, own in _inside(block, added)]
    hidden = _vector(None if capture is None else capture.hidden, position)
    ends = [one for one in made.after if one.role == "norm"]
    found += [Stage(one.role, one, vector=hidden if ends and one is ends[0] else None) for one in made.after]
    return found


def _inside(block: Block, added: Additions | None) -> Iterator[tuple[Part, np.ndarray | None]]:
    """The parts of a block with what each adds to the stream, where it adds something."""
    by_name: dict[str, np.ndarray] = {}
    if added is not None:
        for step, vector in zip(added.steps, added.vectors, strict=True):
            if step.layer == block.layer and step.part != "norm":
                by_name[step.module] = vector.double().numpy()
    for part in block.parts:
        yield part, next((own for name, own in by_name.items() if _one_in_other(part.name, name)), None)


def _one_in_other(name: str, other: str) -> bool:
    return f"{name}.".startswith(f"{other}.") or f"{other}.".startswith(f"{name}.")


def _vector(rows: object, position: int) -> np.ndarray | None:
    return None if rows is None else rows[position].float().cpu().double().numpy()  # type: ignore[index]  # a tensor
