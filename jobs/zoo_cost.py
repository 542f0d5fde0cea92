"""Attention measured on this machine, one length per job, until a budget of seconds or bytes is used up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial

from analysis.zoo_cost import Attention, Measured, measure
from jobs.incremental_task import IncrementalTask, unchanged
from model_runner.errors import Cancelled

SHORTEST, LONGEST = 128, 2**20  # tokens; each length is twice the previous one
SECONDS = 12.0  # total seconds of a run's measurements
MOST_BYTES = 400 * 2**20  # largest memory of one measurement
GROWTH = 4  # largest expected factor in time between two lengths: that of quadratic cost

# shared by all sessions, because concurrent measurements would disturb each other
_alone = ThreadPoolExecutor(1, thread_name_prefix="cost")


class Measurement:
    """A job on its own thread. A running one cannot be cancelled, a waiting one can."""

    ahead = 0  # other jobs take turns with it, but are not counted

    def __init__(self, work: Callable[[], Measured]) -> None:
        self._future: Future[Measured] = _alone.submit(work)

    def wait(self, seconds: float) -> bool:
        """Wait up to this time; return True if it is done."""
        try:
            self._future.exception(timeout=seconds)
        except FutureTimeout:
            return False
        except CancelledError:
            return True
        return True

    def result(self) -> Measured:
        """Seconds and bytes. Raises Cancelled."""
        try:
            return self._future.result()
        except CancelledError:
            raise Cancelled() from None

    def cancel(self) -> None:
        """Cancel it if it has not started."""
        self._future.cancel()


class CostRun(IncrementalTask[Measured]):
    """Measures all of ``ways`` (name → what is measured, and whether it is causal), length by length."""

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
        """Its measurements, the shortest length first."""
        return [one for one in self.items if one.name == name]

    def following(self) -> tuple[str, int] | None:
        """Next variant to measure, the one with the shortest pending length, or None."""
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
