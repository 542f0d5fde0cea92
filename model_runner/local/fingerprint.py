"""A short hash of a model's weights, by which a figure names the weights it was made with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import torch
from torch import Tensor, nn

SAMPLED = 4096  # numbers sampled from each tensor, evenly spaced: fast even for an 8B model
DIGITS = 12  # hexadecimal digits of the name


def weights_fingerprint(model: nn.Module) -> str:
    """A hash that is equal for equal weights of the same dtype, on any device or machine; a training step changes it.

    It is the SHA-256 of each parameter's name, shape, dtype and a sample of its numbers. Changes between the sampled
    numbers go unnoticed.
    """
    found = hashlib.sha256()
    for name, tensor in sorted(model.named_parameters()):
        found.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        for part in _plain(tensor.detach()):
            if not part.is_meta:  # otherwise it is offloaded to disk
                found.update(_some(part.reshape(-1)).view(torch.uint8).numpy().tobytes())
    return found.hexdigest()[:DIGITS]


def _plain(tensor: Tensor) -> Iterator[Tensor]:
    """The tensor, or the tensors that a torchao tensor consists of."""
    if not hasattr(tensor, "__tensor_flatten__"):
        yield tensor
        return
    names, _more = tensor.__tensor_flatten__()  # pyright: ignore[reportAttributeAccessIssue]
    for name in names:
        yield from _plain(getattr(tensor, name))


def _some(flat: Tensor) -> Tensor:
    step = max(1, -(-len(flat) // SAMPLED))
    return flat[::step].to("cpu").contiguous()
