"""The error for a forward that cannot be recorded; callers turn it into an error about the model."""

from __future__ import annotations

from model_runner.errors import Reason


class CannotRecord(Exception):
    """A layer does something that the record cannot express."""

    def __init__(self, reason: Reason | str) -> None:
        self.reason = reason
        super().__init__(str(reason))
