"""The result of a check: one line each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """``what`` was checked, and the result in one sentence."""

    level: Level
    what: str
    words: str

    @property
    def line(self) -> str:
        """The line that is printed."""
        return f"{self.level:7}  {self.what}: {self.words}"


Findings = Iterator[Finding]


def ok(what: str, words: str) -> Finding:
    """A finding that needs no action."""
    return Finding("ok", what, words)


def warning(what: str, words: str) -> Finding:
    """A finding that lets the server start but should be reviewed."""
    return Finding("warning", what, words)


def error(what: str, words: str) -> Finding:
    """A finding that visitors would notice."""
    return Finding("error", what, words)
