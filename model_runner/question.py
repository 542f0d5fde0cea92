"""What it is to ask: a question is a value, and whoever is asked gives a job of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from model_runner.job import Job

A = TypeVar("A")


class Question(Generic[A]):
    """A frozen dataclass; ``A`` is what is answered. Neither holds a model or a function."""


@runtime_checkable
class Answerer(Protocol):
    """Who answers questions about one model."""

    def submit(self, question: Question[A], *, session: str | None = None) -> Job[A]:
        """Ask without waiting; a newer question of the same session cancels this one. May raise RunnerError at once."""
        ...


@dataclass(frozen=True, eq=False)
class Logits(Question[Tensor]):
    """What the model's own output layer makes of these states, ``[positions, vocab]`` in float32. Raises NoLogits."""

    hidden: Float[Tensor, "positions d_model"]


@dataclass(frozen=True, eq=False)
class DirectLogits(Question[Tensor]):
    """What one head's ``output`` adds to the logits of a position on the direct path, ``[vocab]`` in float32.

    ``stream`` leaves the last layer there, ``hidden`` the final norm. Raises NoAttribution, NoLogits.
    """

    layer: int
    head: int
    output: Float[Tensor, "d_value"]
    stream: Float[Tensor, "d_stream"]
    hidden: Float[Tensor, "d_model"]


@dataclass(frozen=True, eq=False)
class HeadWrites(Question[Tensor]):
    """What the output projection makes of each head's ``outputs`` at one position, ``[heads, d_model]`` in float32.

    Together, with the projection's bias, they are what attention adds to the stream. Raises NoAttribution.
    """

    layer: int
    outputs: Float[Tensor, "heads d_value"]
