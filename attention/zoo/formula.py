"""A count by formula: as text for display, and as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Formula:
    """``written`` uses n tokens, d dimensions of a query, d_v of a value, and the letters of a variant's parameters.

    ``of`` takes n_tokens, d_head, d_value, and the parameters by name.
    """

    written: str
    of: Callable[..., int]
