"""A pending answer, local or remote."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

T = TypeVar("T", covariant=True)


@runtime_checkable
class Job(Protocol[T]):
    """A submitted question, whose answer arrives later or never."""

    def wait(self, seconds: float) -> bool:
        """Wait up to this time; return True if the job is done."""
        ...

    @property
    def ahead(self) -> int:
        """Number of other questions that are answered first."""
        ...

    def result(self) -> T:
        """The answer; waits for it. Raises RunnerError, and Cancelled if the job was cancelled before."""
        ...

    def cancel(self) -> None:
        """End it before the model's next layer."""
        ...
