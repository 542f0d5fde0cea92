"""A short name for the numbers of a model: what a figure says of the weights that it was made with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import torch
from torch import Tensor, nn

SAMPLED = 4096  # numbers of each tensor, evenly apart: an 8B model is read in a moment
DIGITS = 12  # of the name, in hexadecimal


def weights_fingerprint(model: nn.Module) -> str:
    """The same for the same weights in the same dtype, on every device and machine; another after a step of training.

    SHA-256 of each parameter's name, shape, dtype and some of its numbers. Numbers between those are not looked at.
    """
    found = hashlib.sha256()
    for name, tensor in sorted(model.named_parameters()):
        found.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        for part in _plain(tensor.detach()):
            if not part.is_meta:  # else it lies on a disk
                found.update(_some(part.reshape(-1)).view(torch.uint8).numpy().tobytes())
    return found.hexdigest()[:DIGITS]


def _plain(tensor: Tensor) -> Iterator[Tensor]:
    """The tensor, or those that one of torchao's is made of."""
    if not hasattr(tensor, "__tensor_flatten__"):
        yield tensor
        return
    names, _more = tensor.__tensor_flatten__()  # pyright: ignore[reportAttributeAccessIssue]
    for name in names:
        yield from _plain(getattr(tensor, name))


def _some(flat: Tensor) -> Tensor:
    step = max(1, -(-len(flat) // SAMPLED))
    return flat[::step].to("cpu").contiguous()
