"""One block of memory into which a capture copies the tensors it keeps.

If the tensors stayed where they were made, they would lie between the forward's freed temporaries, and the allocator
could neither return the gaps nor use them well: at 2048 tokens of a 12 × 768 model the peak was a third higher
(benchmarks/capture_cost.py). Copying costs about a hundredth of the forward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from jaxtyping import UInt8
from torch import Tensor

ALIGNMENT = 64  # bytes; the alignment that kernels prefer


class Arena:
    """A block of memory, filled from the front; a tensor that no longer fits gets its own memory."""

    def __init__(self, block: UInt8[Tensor, "bytes"]) -> None:
        self._block = block
        self._used = 0

    def keep(self, tensor: Tensor) -> Tensor:
        """Return a contiguous copy of the tensor."""
        copy = self.room(tensor.shape, tensor.dtype)
        copy.copy_(tensor.detach())
        return copy

    def room(self, shape: Sequence[int], dtype: torch.dtype, device: torch.device | None = None) -> Tensor:
        """An uninitialized contiguous tensor; it takes up physical memory only where it is written.

        It is not in the block if another ``device`` is requested.
        """
        if device not in (None, self._block.device):
            return torch.empty(*shape, dtype=dtype, device=device)
        size = math.prod(shape) * dtype.itemsize
        place = self._block[self._used : self._used + size]
        if place.numel() < size:
            return torch.empty(*shape, dtype=dtype, device=self._block.device)
        self._used += -(-size // ALIGNMENT) * ALIGNMENT
        return place.view(dtype).view(*shape)
