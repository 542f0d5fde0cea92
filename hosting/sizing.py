"""How large a machine a class needs, as measured by benchmarks/session_memory.py and benchmarks/classroom.py."""

from __future__ import annotations

from typing import NamedTuple

ROUNDING = 0.94  # a machine sold as 4 GB reports 3.8


class Size(NamedTuple):
    """A number of phones, a few of which explore the app, and the cores and GB of memory of the whole machine."""

    phones: int
    cores: int
    memory: int


SIZES = (Size(30, 2, 2), Size(100, 2, 4), Size(500, 4, 8))  # docs/hosting.md has the same rows


def fitting(cores: int, memory: int) -> Size | None:
    """The largest class for which these cores and bytes are enough; None if not even the smallest."""
    rows = [size for size in SIZES if size.cores <= cores and size.memory * ROUNDING * 2**30 <= memory]
    return rows[-1] if rows else None
