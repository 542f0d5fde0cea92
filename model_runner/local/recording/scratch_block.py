"""The memory of a capture that is gone, kept for the next one.

The kernel hands out a page when it is first written to, zeroed: that takes about as long as copying into it what a
capture keeps. What was written to before costs nothing. On a GPU torch does the same by itself.
"""

from __future__ import annotations

import weakref

import torch
from jaxtyping import UInt8
from torch import Tensor

SLACK = 1.25  # a block may be so much larger than asked for
MOST = 512 << 20  # bytes that may lie idle


class ScratchBlock:
    """At most one block that nobody looks into any more. Safe to use from several threads."""

    def __init__(self) -> None:
        self._spare: Tensor | None = None

    def take(self, nbytes: int, device: torch.device) -> UInt8[Tensor, "bytes"]:
        """Room for so many bytes or some more, uninitialised; it comes back when the last tensor of it is gone."""
        if device.type != "cpu" or nbytes > MOST:
            return torch.empty(nbytes, dtype=torch.uint8, device=device)
        block, self._spare = self._spare, None  # of another size it is given up: the next texts are like this one
        if block is None or not nbytes <= len(block) <= SLACK * nbytes:
            block = torch.empty(nbytes, dtype=torch.uint8)
        lent = block.numpy()  # lives as long as the storage that torch makes of it
        weakref.finalize(lent, self._give_back, block).atexit = False
        return torch.from_numpy(lent)

    def _give_back(self, block: Tensor) -> None:
        self._spare = block
