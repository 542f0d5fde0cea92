"""The generator of a film, waited for in a way that lets a newer run of the page take over during a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock

from model_runner import GenerateRequest, Runner, Step
from model_runner.errors import Cancelled

PATIENCE = 0.1  # seconds of waiting before ``say`` is called
Say = Callable[[], None]  # called while waiting; may raise to leave, and the next pull finds the running step


class InterruptibleSteps:
    """At most one generator with at most one running step; ``name`` identifies the session at the runner.

    Only one thread at a time may request a step; any thread may drop the generator.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="film")
        self._steps: Iterator[Step] | None = None
        self._pending: Future[Step | None] | None = None
        self._cancel: Callable[[], object] = lambda: None
        self._changing = Lock()

    def next(self, runner: Runner, request: GenerateRequest, say: Say) -> Step | None:
        """The next step, starting a generator for this request if there is none. None at its end.

        Raises Cancelled if the generator was dropped meanwhile.
        """
        with self._changing:
            if self._steps is None:
                self._steps = runner.generate(request, session=self._name)
                self._cancel = lambda: runner.cancel(self._name)
            pending = self._pending = self._pending or self._pool.submit(next, self._steps, None)
        while not wait([pending], PATIENCE).done:
            say()
        with self._changing:
            if self._pending is not pending:
                raise Cancelled
            self._pending = None
        try:
            return pending.result()
        except BaseException:
            self.close()  # the generator is exhausted; the next pull starts another from here
            raise

    def close(self) -> None:
        """Drop the generator. A running step is cancelled, and its result is ignored."""
        with self._changing:
            steps, self._steps = self._steps, None
            pending, self._pending = self._pending, None
        if steps is None:
            return
        if pending is None or pending.done():
            _close(steps)
        else:
            pending.add_done_callback(lambda _: _close(steps))
            self._cancel()


def _close(steps: Iterator[Step]) -> None:
    close = getattr(steps, "close", None)
    if close is not None:
        close()
