"""Runs many small matrix products on the calling thread alone, since synchronizing torch's threads would take longer.

GNU's OpenMP has a thread count per calling thread, whereas torch's own ``set_num_threads`` also affects every thread
that starts meanwhile. With another OpenMP, nothing is changed.
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
    """Inside the block, if ``wanted``, torch uses only this thread for operations called from it."""
    usual = torch.get_num_threads()  # before anything is set: a thread's first call sets it
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
    """The OpenMP library that torch has loaded."""
    found = sorted((Path(torch.__file__).parent / "lib").glob("libgomp*"))
    return ctypes.CDLL(str(found[0])) if found else None
