"""The two short notations in which the fact tables are written."""

from __future__ import annotations


def pairs(text: str) -> list[tuple[str, str]]:
    """Parse ``a:b;c:d`` into ``[(a, b), (c, d)]``."""
    return [(a.strip(), b.strip()) for a, b in (item.split(":") for item in text.strip().split(";") if item.strip())]


def words(text: str) -> list[str]:
    """Parse a comma separated list."""
    return [w.strip() for w in text.replace("\n", " ").split(",") if w.strip()]
