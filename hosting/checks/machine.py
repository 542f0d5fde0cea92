"""Check that this machine can serve what the limits promise, and how many phones it is large enough for."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hosting.checks.finding import Findings, error, ok, warning
from hosting.open_connections import RESERVE
from hosting.settings import Limits, in_bytes
from hosting.sizing import SIZES, fitting

CGROUP = Path("/sys/fs/cgroup/memory.max")  # of this process's container or service (cgroup 2)
SYSTEM = 2**29  # bytes that the system and a proxy need beside the server
GB = 2**30


def machine(limits: Limits) -> Findings:
    """Check memory, cores and open files."""
    memory, cores = available_memory(), available_cores()
    if memory is None:
        yield warning("machine", "this system does not say how much memory it has.")
    else:
        yield from _memory(limits, memory)
        yield from _size(memory, cores)
    yield from _files(limits.connections)


def _memory(limits: Limits, memory: int) -> Findings:
    what = "limits.process_memory"
    most, kept = in_bytes(limits.process_memory), in_bytes(limits.memory)
    words = f"visitors are let in up to {limits.process_memory}; this machine has {memory / GB:.1f} GB"
    if most > memory - SYSTEM:
        yield error(what, f"{words}, of which the system needs {SYSTEM / GB:.1f}; lower it.")
    else:
        yield ok(what, f"{words}.")
    if kept > most / 2:
        yield warning("limits.memory", f"the cache may take {limits.memory}, over half of limits.process_memory.")


def _size(memory: int, cores: int) -> Findings:
    have = f"{cores} {'core' if cores == 1 else 'cores'} and {memory / GB:.1f} GB"
    size = fitting(cores, memory)
    if size is None:
        least = SIZES[0]
        yield error(
            "class size",
            f"{have} are too little for {least.phones} phones, which need {least.cores} cores and {least.memory} GB.",
        )
    else:
        yield ok("class size", f"{have} are enough for {size.phones} phones (docs/hosting.md, “How large a machine”).")


def _files(connections: int) -> Findings:
    what, needed = "limits.connections", connections + RESERVE
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY not in (soft, hard) and max(soft, hard) < needed:
        words = f"the server has to open {needed:,} files, and may open {hard:,}"
        yield error(what, f"{words}; lower it, or set LimitNOFILE={needed} in the service.")
    else:
        yield ok(what, f"{connections:,}; the server may open {needed:,} files.")


def available_memory() -> int | None:
    """Bytes of memory of this machine, or of this process's container or service; None if unknown."""
    found: list[int] = []
    with suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ValueError, OSError):  # "max": no limit
        found.append(int(CGROUP.read_text()))
    return min(found, default=None)


def available_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
