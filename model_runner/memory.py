"""How much memory there is, and how to say it."""

from __future__ import annotations

import ctypes
import sys

import psutil
import torch

LARGE = 2 << 20  # bytes; the temporaries of a layer are several times as large as what enters it
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform.startswith("linux") else None


def available(device: torch.device) -> int:
    """Bytes that can still be allocated on the device."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return psutil.virtual_memory().available


def give_back(entering: torch.Tensor) -> None:
    """Return freed pages to the system before a layer that takes a large tensor in; where that can be done.

    What a capture keeps lies between what its forward frees, in holes that glibc (2.36) neither fills nor gives back:
    without this the peak is about twice what is kept. Takes 3 ms where a layer takes 400.
    """
    if _TRIM is not None and entering.device.type == "cpu" and entering.nbytes >= LARGE:
        _TRIM(0)


def readable(size: int | float) -> str:
    """A size in the largest fitting unit of 1024: "1.5 GB"."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if size < 999.5 else f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"
