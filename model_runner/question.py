"""The protocol of questions: a question is a value, and submitting it returns a job for the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from model_runner.job import Job

A = TypeVar("A")


class Question(Generic[A]):
    """A frozen dataclass whose answer has type ``A``. Neither holds a model or a function."""


@runtime_checkable
class Answerer(Protocol):
    """Answers questions about one model."""

    def submit(self, question: Question[A], *, session: str | None = None) -> Job[A]:
        """Submit a question without waiting; it cancels the session's previous one.

        May raise RunnerError immediately.
        """
        ...


@dataclass(frozen=True, eq=False)
class Logits(Question[Tensor]):
    """Asks for the output layer's logits of these states, ``[positions, vocab]`` in float32. Raises NoLogits."""

    hidden: Float[Tensor, "positions d_model"]


@dataclass(frozen=True, eq=False)
class DirectLogits(Question[Tensor]):
    """Asks what one head's ``output`` adds to the logits of a position directly, ``[vocab]`` in float32.

    ``stream`` is the output of the last layer there, ``hidden`` that of the final norm. Raises NoAttribution, NoLogits.
    """

    layer: int
    head: int
    output: Float[Tensor, "d_value"]
    stream: Float[Tensor, "d_stream"]
    hidden: Float[Tensor, "d_model"]


@dataclass(frozen=True, eq=False)
class HeadWrites(Question[Tensor]):
    """Asks for the output projection of each head's ``outputs`` at one position, ``[heads, d_model]`` in float32.

    Their sum, plus the projection's bias, is what attention adds to the stream. Raises NoAttribution.
    """

    layer: int
    outputs: Float[Tensor, "heads d_value"]
