"""Work on its way, wherever it is done."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

T = TypeVar("T", covariant=True)


@runtime_checkable
class Job(Protocol[T]):
    """A question that was asked; its answer comes later, or never."""

    def wait(self, seconds: float) -> bool:
        """Whether the job ended within this time."""
        ...

    @property
    def ahead(self) -> int:
        """How many questions of others are answered before."""
        ...

    def result(self) -> T:
        """The answer, once it is there. Raises RunnerError, and Cancelled where the job was cancelled before."""
        ...

    def cancel(self) -> None:
        """End it before the model's next layer."""
        ...
