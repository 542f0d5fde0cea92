"""A request is a value: everything that determines a capture, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CaptureRequest:
    """One text through one model; equal requests have equal captures.

    ``model``, ``revision`` and ``dtype`` may be None: the runner that answers fills in its own (see
    ``Capture.request``), and refuses a request that names another.
    """

    text: str
    model: str | None = None
    revision: str | None = None
    dtype: str | None = None
