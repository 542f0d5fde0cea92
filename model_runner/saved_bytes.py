"""Serializes a value for a file.

The implementation imports every class that it names and this module, so that a capture can save itself.
"""

from __future__ import annotations

from functools import singledispatch


@singledispatch
def saved_bytes(value: object) -> bytes:
    """See :mod:`model_runner.capture_file`, which registers the implementation.

    Raises TypeError for unsupported values.
    """
    raise TypeError(f"{type(value).__name__} cannot be written down")
