"""Work that outlives a run of a page, such as a film, a race or a curve: at most one task per name and session."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import finalize, ref

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from model_runner.byte_lru import ByteBudgetCache


class Closable(Protocol):
    """Work that can be ended early."""

    def close(self) -> None:
        """End it and release its worker."""
        ...


C = TypeVar("C", bound=Closable)


class SessionJobs:
    """The work of one session by name; ``owner`` is the session's id."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._held: dict[str, tuple[object, Any]] = {}
        self._kept: ByteBudgetCache | None = None  # the cache whose budget they count in
        self._weighed = object()  # their group in it, which holds no reference to the jobs

    def get(self, name: str, key: object, make: Callable[[str], C]) -> C:
        """Return the work of this name and key; another key ends the old work. ``make`` is called with a name for its
        requests.

        Work that asks a runner has a weak reference to it in its key: a model that was evicted and reloaded has another
        runner, which the old work would never ask; and a key must not keep a model in memory.
        """
        if name in self._held and self._held[name][0] == key:
            return self._held[name][1]
        self.drop(name)
        self._held[name] = (key, make(f"{self._owner} {name}"))
        return self._held[name][1]

    def weigh(self, name: str, kept: ByteBudgetCache) -> None:
        """Count this work's ``parts`` or ``nbytes`` in the cache's budget; if there is no room, the work ends.

        It counts until it ends or its session is gone.
        """
        if name not in self._held:
            return
        if self._kept is None:
            self._kept = kept
            finalize(self, kept.forget, self._weighed)
        kept.put(self._weighed, name, None, let_go=partial(_drop, ref(self), name), parts=[self._held[name][1]])

    def weighing(self, name: str, kept: ByteBudgetCache) -> Callable[[], None]:
        """Return a function that calls :meth:`weigh`, for work that grows between two runs; it holds the session
        weakly.
        """
        return partial(_weigh, ref(self), name, kept)

    def drop(self, name: str) -> None:
        """End the work of this name, if there is any."""
        if name in self._held:
            self._held.pop(name)[1].close()
            self._forget(name)

    def close(self) -> None:
        """End everything. ``resumable`` work is kept for a browser that only lost its connection."""
        for name, (_, work) in list(self._held.items()):
            work.close()
            if not getattr(work, "resumable", False):
                del self._held[name]
                self._forget(name)

    def _forget(self, name: str) -> None:
        if self._kept is not None:
            self._kept.forget(self._weighed, name)


def _drop(jobs: ref[SessionJobs], name: str) -> None:
    held = jobs()
    if held is not None:
        held.drop(name)


def _weigh(jobs: ref[SessionJobs], name: str, kept: ByteBudgetCache) -> None:
    held = jobs()
    if held is not None:
        held.weigh(name, kept)
