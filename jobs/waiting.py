"""To wait for an answer while somebody looks at the page."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # the frame waits too, before the engine is imported
    from model_runner.job import Job

T = TypeVar("T")

PATIENCE = 0.1  # seconds between two looks
SOON = 0.4  # seconds in which nobody asks what goes on; a browser would draw the page once more to say it


def await_job(job: Job[T], say: Callable[[], object], look: Callable[[], object] | None = None) -> T:
    """The answer; until it is there ``say`` is called ten times a second. Who leaves cancels. Raises RunnerError.

    With ``look``, that is called in the place of ``say`` at first: it notices who leaves, and says nothing.
    """
    begun = time.monotonic()
    try:
        while not job.wait(PATIENCE):
            if look is not None and time.monotonic() - begun < SOON:
                look()
            else:
                say()
        return job.result()
    finally:
        job.cancel()
