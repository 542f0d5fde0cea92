"""To wait for an answer while somebody looks at the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # the frame waits too, before the engine is imported
    from model_runner.job import Job

T = TypeVar("T")

PATIENCE = 0.1  # seconds between two looks


def waited(job: Job[T], say: Callable[[], object]) -> T:
    """The answer; until it is there ``say`` is called ten times a second. Who leaves cancels. Raises RunnerError."""
    try:
        while not job.wait(PATIENCE):
            say()
        return job.result()
    finally:
        job.cancel()
