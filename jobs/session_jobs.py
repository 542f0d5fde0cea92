"""Work that outlives a run of a page: a film, a race, a curve. One of each name is kept, and none for nobody."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from model_runner.byte_lru import ByteBudgetCache


class Closable(Protocol):
    """Work that can be ended before it is done."""

    def close(self) -> None:
        """End it and let its worker go."""
        ...


C = TypeVar("C", bound=Closable)


class SessionJobs:
    """What one session works at, by name; ``owner`` is the session's own name."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._held: dict[str, tuple[object, Any]] = {}

    def get(self, name: str, key: object, make: Callable[[str], C]) -> C:
        """The work of this name and key; for another key the old one ends. ``make`` is told a name for its requests.

        Work that asks a runner has a weak reference to it in its key: a model that was given up and loaded again has
        another runner, which the old work would never ask; and a key alone keeps no model in memory.
        """
        if name in self._held and self._held[name][0] == key:
            return self._held[name][1]
        self.drop(name)
        self._held[name] = (key, make(f"{self._owner} {name}"))
        return self._held[name][1]

    def weigh(self, name: str, kept: ByteBudgetCache) -> None:
        """Have the work of this name, which tells its ``nbytes``, count as kept; where there is no room it ends."""
        if name in self._held:
            kept.put(self, name, None, self._held[name][1].nbytes, partial(self.drop, name))

    def drop(self, name: str) -> None:
        """End the work of this name, if there is one."""
        if name in self._held:
            self._held.pop(name)[1].close()

    def close(self) -> None:
        """End everything. Work that is ``resumable`` is kept, for a browser that only lost its connection."""
        for name, (_, work) in list(self._held.items()):
            work.close()
            if not getattr(work, "resumable", False):
                del self._held[name]
