"""How large a machine a class needs, by what benchmarks/session_memory.py and benchmarks/classroom.py measured."""

from __future__ import annotations

from typing import NamedTuple

ROUNDING = 0.94  # a machine that is sold as 4 GB says 3.8


class Size(NamedTuple):
    """So many phones that follow, a few of which explore the app; cores, and GB of memory of the whole machine."""

    phones: int
    cores: int
    memory: int


SIZES = (Size(30, 2, 2), Size(100, 2, 4), Size(500, 4, 8))  # docs/hosting.md has the same rows


def fitting(cores: int, memory: int) -> Size | None:
    """The largest class for which so many cores and bytes are enough; None: not even the smallest."""
    rows = [size for size in SIZES if size.cores <= cores and size.memory * ROUNDING * 2**30 <= memory]
    return rows[-1] if rows else None
