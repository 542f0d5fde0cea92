"""glibc's malloc, told to keep what a forward frees for its next layer instead of handing it back to the kernel.

Left alone it gives memory back after almost every layer, and the next one gets it page by page again, each zeroed. And
it gives each thread heaps of 64 MB, in which the temporaries of a long text leave large gaps. Time and peak memory of a
capture depend on both (benchmarks/capture_cost.py). Other C libraries have no such settings.
"""

from __future__ import annotations

import ctypes
import sys

KEPT = 128 << 20  # bytes that may lie free at the end of a heap
IN_HEAP = 4 << 20  # bytes up to which memory comes from a heap; larger gaps in it would be filled with smaller things
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # malloc.h
SETTINGS = ((M_MMAP_THRESHOLD, IN_HEAP), (M_TRIM_THRESHOLD, KEPT), (M_ARENA_MAX, 1))  # one heap for threads to come


def keep_freed_memory() -> bool:
    """Set it for this process; whether there was anything to set."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # musl
        return False
    return all(mallopt(*setting) for setting in SETTINGS)
