"""How much memory there is, and how to say it."""

from __future__ import annotations

import psutil
import torch


def available(device: torch.device) -> int:
    """Bytes that can still be allocated on the device."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return psutil.virtual_memory().available


def readable(size: int | float) -> str:
    """A size in the largest fitting unit of 1024: "1.5 GB"."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if size < 999.5 else f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"
