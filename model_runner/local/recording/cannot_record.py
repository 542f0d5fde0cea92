"""Why a forward cannot be recorded: said by the parts that see it, made an error of the model's by who asked."""

from __future__ import annotations

from model_runner.errors import Reason


class CannotRecord(Exception):
    """A layer does something that the record cannot express."""

    def __init__(self, reason: Reason | str) -> None:
        self.reason = reason
        super().__init__(str(reason))
