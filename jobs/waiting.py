"""Waiting for an answer while the page stays responsive."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # the frame waits too, before the engine is imported
    from model_runner.job import Job

T = TypeVar("T")

PATIENCE = 0.1  # seconds between two checks
SOON = 0.4  # seconds before progress is reported, which would cost the browser another redraw


def await_job(job: Job[T], say: Callable[[], object], look: Callable[[], object] | None = None) -> T:
    """Return the answer, calling ``say`` ten times a second until then. Leaving cancels the job. Raises RunnerError.

    ``look``, if given, is called instead of ``say`` at first: it notices that the reader left, and shows nothing.
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
