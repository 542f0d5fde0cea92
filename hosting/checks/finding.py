"""What a check found: one line each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """``what`` was tried and what was found, in one sentence."""

    level: Level
    what: str
    words: str

    @property
    def line(self) -> str:
        """As it is printed."""
        return f"{self.level:7}  {self.what}: {self.words}"


Findings = Iterator[Finding]


def ok(what: str, words: str) -> Finding:
    """Nothing has to be done."""
    return Finding("ok", what, words)


def warning(what: str, words: str) -> Finding:
    """The server starts, and somebody should look at this."""
    return Finding("warning", what, words)


def error(what: str, words: str) -> Finding:
    """Visitors would meet this."""
    return Finding("error", what, words)
