"""A program of a test that is killed and restarts."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol


class Killable(Protocol):
    """A program in a process of its own."""

    def kill(self) -> None:
        """It is gone at once."""

    def start(self) -> None:
        """Once it is back, it answers."""


@contextmanager
def down(program: Killable) -> Generator[None]:
    """It is killed, and afterwards started again."""
    program.kill()
    try:
        yield
    finally:
        program.start()
