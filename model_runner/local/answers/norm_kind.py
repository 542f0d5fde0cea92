"""Whether a module is a norm, and which one, by its output for vectors of known mean and magnitude."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from model_runner.local.recording.parity_check import BROKEN

ROWS = 5
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0)  # of the rows, large compared with any norm's epsilon
UNIT = 64.0
# of the rows, relative to their magnitude: LayerNorm removes them, RMSNorm does not
MEANS = (0.5, -0.5, 0.3, 0.0, -0.8)
NEAR = 1e-4  # of the largest number, or some roundings of a coarser dtype; another function is off by its own magnitude
LAYER, RMS = "LayerNorm", "RMSNorm"


def norm_kind(module: nn.Module, width: int) -> str | None:
    """``LayerNorm``, ``RMSNorm``, or None for any other module; only for modules without submodules."""
    if list(module.children()) or any(parameter.numel() != width for parameter in module.parameters()):
        return None
    like = next(module.parameters(), torch.zeros(1))
    noise = torch.randn(ROWS, width, generator=torch.Generator().manual_seed(0)) + torch.tensor(MEANS)[:, None]
    rows = (UNIT * torch.tensor(SIZES)[:, None] * noise).to(like)
    try:
        with torch.no_grad():
            made = module(rows[None])
    except BROKEN:
        return None
    if not torch.is_tensor(made) or made.shape != (1, ROWS, width):
        return None
    centred = rows.double() - rows.double().mean(dim=-1, keepdim=True)
    plain = {
        LAYER: centred / centred.square().mean(dim=-1, keepdim=True).sqrt(),
        RMS: rows.double() / rows.double().square().mean(dim=-1, keepdim=True).sqrt(),
    }
    return next((kind for kind, normed in plain.items() if _is_affine(made[0], normed.to(made.device))), None)


def norm_of(module: nn.Module, widths: Sequence[int]) -> str | None:
    """The norm's kind for the first matching width: of the stream, or of one of several parallel streams."""
    return next((kind for kind in (norm_kind(module, width) for width in widths) if kind is not None), None)


def _is_affine(made: Tensor, normed: Tensor) -> bool:
    """True if each dimension is gain times the normalized number plus bias, the same in every row."""
    near, made = max(NEAR, 8 * torch.finfo(made.dtype).eps), made.double()
    columns = torch.stack([normed, torch.ones_like(normed)], dim=-1).transpose(0, 1).cpu()  # (width, rows, 2)
    wanted = made.T[..., None].cpu()
    found = torch.linalg.lstsq(columns, wanted).solution
    left = (columns @ found - wanted).abs().max()
    return bool(left <= near * wanted.abs().max()) and bool(wanted.abs().max() < SIZES[-1] * UNIT / 4)
