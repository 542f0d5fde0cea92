"""How a job is left: before every layer of the model, and wherever else its work pauses, it asks whether to go on.

The model's own attention asks (see :mod:`model_runner.local.recording.recorder`), whatever forward it is part of; so
does every layer without attention.
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
    """``check`` raises to leave what runs inside."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def pause() -> None:
    """Raises what the check of this context raises: Cancelled, once nobody waits for the job any more."""
    _CHECK.get()()
