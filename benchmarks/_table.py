"""A Markdown table of measurements, with targets and whether they were met. Knows nothing about what was measured."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Target:
    """The largest value that is still good; the unit is printed after both."""

    most: float
    unit: str

    def verdict(self, value: float) -> str:
        """One word: ok, or NOT ok in capitals so that it is not overlooked."""
        return "ok" if value <= self.most else "NOT ok"

    def __str__(self) -> str:
        return f"≤ {self.most:g}{self.unit}"


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table; the first ``left`` columns hold words, the others numbers."""
    align: list[Literal["---", "---:"]] = ["---" if i < left else "---:" for i in range(len(head))]
    print(f"\n### {title}\n")
    for row in (head, align, *rows):
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def machine() -> str:
    """The machine that the numbers depend on, without its name."""
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{platform.system()} {platform.machine()}, {n_cores} CPU cores, Python {platform.python_version()}"
