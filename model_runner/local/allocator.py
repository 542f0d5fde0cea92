"""Settings of glibc's malloc that reuse the memory of a forward's layers instead of returning it to the kernel.

By default it returns memory after almost every layer, and the next layer gets it page by page again, each zeroed. It
also gives each thread heaps of 64 MB, in which a long text's temporaries leave large gaps. Time and peak memory of a
capture depend on both (benchmarks/capture_cost.py). Other C libraries have no such settings.
"""

from __future__ import annotations

import ctypes
import sys

KEPT = 128 << 20  # bytes that may be free at the end of a heap
IN_HEAP = 4 << 20  # bytes up to which memory comes from a heap; larger gaps would be filled with smaller objects
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # malloc.h
SETTINGS = ((M_MMAP_THRESHOLD, IN_HEAP), (M_TRIM_THRESHOLD, KEPT), (M_ARENA_MAX, 1))  # one heap for future threads


def keep_freed_memory() -> bool:
    """Apply the settings to this process; returns False if there is nothing to set."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # musl
        return False
    return all(mallopt(*setting) for setting in SETTINGS)
