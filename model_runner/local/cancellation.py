"""Cancellation of a job: before every layer of the model, and at other pauses, it checks whether to continue.

The model's own attention checks (see :mod:`model_runner.local.recording.recorder`), in whatever forward, and so does
every layer without attention.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Generator

_CHECK: contextvars.ContextVar[Callable[[], None]] = contextvars.ContextVar(
    "attention_atlas_check", default=lambda: None
)


@contextlib.contextmanager
def checked(check: Callable[[], None]) -> Generator[None]:
    """``check`` raises to abort what runs inside."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def pause() -> None:
    """Call this context's check, which raises Cancelled once nobody waits for the job any more."""
    _CHECK.get()()
