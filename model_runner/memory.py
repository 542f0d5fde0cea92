"""Measures free memory, and formats sizes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import torch

UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def available(device: torch.device) -> int:
    """Bytes that can still be allocated on the device; for the CPU, also within the container's limit."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return min((psutil.virtual_memory().available, *_left_in_groups()))


def _left_in_groups() -> Iterator[int]:
    """What each control group of this process with a limit leaves it (Linux cgroups, versions 1 and 2)."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if kinds not in ("", "memory"):
            continue
        names = ("memory.max", "memory.current") if not kinds else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        top = GROUPS / kinds
        own = top / path.lstrip("/")
        for folder in (own, *own.parents):  # a container sees its own group as the root, whatever its path says
            if not folder.is_relative_to(top):
                break
            limit, used = (_number(folder / name) for name in names)
            if limit is not None and used is not None:
                yield max(0, limit - used + _reclaimable(folder))


def _number(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None  # "max"


def _reclaimable(folder: Path) -> int:
    """Bytes of cached file pages that nobody uses: they count as used until the memory is needed."""
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.split()[0] in ("inactive_file", "total_inactive_file"))


def budget(setting: str) -> int:
    """The memory budget in bytes of everything that is cached: a setting such as "512 MB" or "2 GB".

    By default, a quarter of the free memory, but at most a gigabyte. Raises ValueError if the setting is not a size.
    """
    if not setting.strip():
        return min(1 << 30, available(torch.device("cpu")) // 4)
    number, _, unit = setting.strip().upper().partition(" ")
    return int(float(number) * UNITS[unit]) if unit in UNITS else int(number)


def readable(size: int | float) -> str:
    """A size in the largest fitting unit, with steps of 1024, as everywhere here: "1.5 GB"."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1023.5 or unit == "TB":
            return f"{size:.3g} {unit}" if size < 999.5 else f"{size:,.0f} {unit}"
        size /= 1024
    raise AssertionError("the last unit holds whatever is left")
