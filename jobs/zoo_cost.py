"""Attention measured on this machine, a length a job, until the seconds or the bytes that it may take are used up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial

from analysis.zoo_cost import Attention, Measured, measure
from jobs.incremental_task import IncrementalTask, unchanged
from model_runner.errors import Cancelled

SHORTEST, LONGEST = 128, 2**20  # tokens; each length is twice the one before
SECONDS = 12.0  # that all measurements of a run take together
MOST_BYTES = 400 * 2**20  # that one of them may hold
GROWTH = 4  # the next length takes at most so many times as much: of what grows with the square

_alone = ThreadPoolExecutor(1, thread_name_prefix="cost")  # of all sessions: beside another, none would be a measure


class Measurement:
    """A job of its own thread; one under way ends by itself, one that waits is taken back."""

    ahead = 0  # of others: what is measured for them takes turns, but is not counted

    def __init__(self, work: Callable[[], Measured]) -> None:
        self._future: Future[Measured] = _alone.submit(work)

    def wait(self, seconds: float) -> bool:
        """Whether it ended within this time."""
        try:
            self._future.exception(timeout=seconds)
        except FutureTimeout:
            return False
        except CancelledError:
            return True
        return True

    def result(self) -> Measured:
        """The seconds and bytes. Raises Cancelled."""
        try:
            return self._future.result()
        except CancelledError:
            raise Cancelled() from None

    def cancel(self) -> None:
        """Take it back if it has not begun."""
        self._future.cancel()


class CostRun(IncrementalTask[Measured]):
    """All of ``ways`` (name → what is measured, and whether it is causal), length after length, side by side."""

    def __init__(self, ways: dict[str, tuple[Attention, bool]], d_head: int) -> None:
        self.names, self.d_head = tuple(ways), d_head

        def submit(index: int) -> Measurement | None:
            following = self.following()
            if following is None:
                return None
            name, n_tokens = following
            attention, causal = ways[name]
            return Measurement(partial(measure, name, attention, n_tokens, d_head, causal=causal))

        super().__init__(submit, unchanged, running=True)

    @property
    def spent(self) -> float:
        """Seconds of all measurements so far."""
        return sum(one.took for one in self.items)

    def of(self, name: str) -> list[Measured]:
        """What was measured of it, the shortest first."""
        return [one for one in self.items if one.name == name]

    def following(self) -> tuple[str, int] | None:
        """What is measured next: of those with room left, the one whose next length is shortest; None: none has."""
        left = SECONDS - self.spent
        wanted = [(self._next(name), place) for place, name in enumerate(self.names) if self._fits(name, left)]
        if not wanted:
            return None
        n_tokens, place = min(wanted)
        return self.names[place], n_tokens

    def _next(self, name: str) -> int:
        done = self.of(name)
        return 2 * done[-1].n_tokens if done else SHORTEST

    def _fits(self, name: str, seconds: float) -> bool:
        done = self.of(name)
        if not done:
            return True
        last = done[-1]
        return 2 * last.n_tokens <= LONGEST and GROWTH * last.took <= seconds and GROWTH * last.n_bytes <= MOST_BYTES
