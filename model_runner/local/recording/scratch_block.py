"""Reuses the memory of a freed capture for the next one.

The kernel zeroes a page when it is first written to, which takes about as long as copying into it what a capture keeps.
Memory that was written to before costs nothing. On a GPU, torch's allocator does the same.
"""

from __future__ import annotations

import weakref

import torch
from jaxtyping import UInt8
from torch import Tensor

SLACK = 1.25  # a block may be this many times as large as requested
MOST = 512 << 20  # bytes that may lie idle


class ScratchBlock:
    """At most one free block that nobody uses any more. Thread-safe."""

    def __init__(self) -> None:
        self._spare: Tensor | None = None

    def take(self, nbytes: int, device: torch.device) -> UInt8[Tensor, "bytes"]:
        """At least ``nbytes`` bytes, uninitialized; the block returns when its last tensor is freed."""
        if device.type != "cpu" or nbytes > MOST:
            return torch.empty(nbytes, dtype=torch.uint8, device=device)
        block, self._spare = self._spare, None  # a block of another size is dropped: the next texts are like this one
        if block is None or not nbytes <= len(block) <= SLACK * nbytes:
            block = torch.empty(nbytes, dtype=torch.uint8)
        lent = block.numpy()  # lives as long as the storage that torch makes from it
        weakref.finalize(lent, self._give_back, block).atexit = False
        return torch.from_numpy(lent)

    def _give_back(self, block: Tensor) -> None:
        self._spare = block
