"""Many small matrix products by the thread that asks for them alone: torch's helpers would take longer to meet.

GNU's OpenMP has a number of threads for each thread that asks, which torch's own ``set_num_threads`` would change for
every thread that begins meanwhile, too. With another OpenMP nothing is changed.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import torch


@contextmanager
def one_thread(wanted: bool = True) -> Generator[None]:
    """Within, torch asks no helpers of this thread, where that is wanted."""
    usual = torch.get_num_threads()  # before anything is set: the first look of a thread sets it
    openmp = _openmp() if wanted else None
    if openmp is None:
        yield
        return
    openmp.omp_set_num_threads(1)
    try:
        yield
    finally:
        openmp.omp_set_num_threads(usual)


@functools.cache
def _openmp() -> ctypes.CDLL | None:
    """The library that torch itself has loaded."""
    found = sorted((Path(torch.__file__).parent / "lib").glob("libgomp*"))
    return ctypes.CDLL(str(found[0])) if found else None
