"""A value as the bytes of a file. What writes them names every class and imports this; so a capture can save itself."""

from __future__ import annotations

from functools import singledispatch


@singledispatch
def saved_bytes(value: object) -> bytes:
    """See :mod:`model_runner.capture_file`, which registers how. Raises TypeError for what is never saved."""
    raise TypeError(f"{type(value).__name__} cannot be written down")
