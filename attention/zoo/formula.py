"""A count by formula: as it is written for the reader, and as it is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Formula:
    """``written`` in n tokens, d numbers of a query, d_v of a value, and the letters of a variant's parameters.

    ``of`` takes n_tokens, d_head, d_value, and the parameters by name.
    """

    written: str
    of: Callable[..., int]
