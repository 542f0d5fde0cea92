"""The parts of an address as values: each function gives None for what it cannot read."""

from __future__ import annotations

Window = tuple[int, int, int, int]


def whole(value: str) -> int | None:
    """A number of the address."""
    try:
        return int(value)
    except ValueError:
        return None


def window(value: str) -> Window | None:
    """First and last query and key of a window, both included: 0-3-2-9"""
    try:
        q0, q1, k0, k1 = (int(edge) for edge in value.split("-"))
    except ValueError:
        return None
    return q0, q1, k0, k1


def token_ids(value: str) -> tuple[int, ...] | None:
    """Token ids as an address writes them: 12.53.9"""
    try:
        ids = tuple(int(part) for part in value.split(".") if part)
    except ValueError:
        return None
    return None if any(part < 0 for part in ids) else ids
