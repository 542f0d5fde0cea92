"""The generator of a film, awaited so that a newer run of the page can take over while a step is under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock

from model_runner import GenerateRequest, Runner, Step
from model_runner.errors import Cancelled

PATIENCE = 0.1  # seconds of waiting before the screen is told
Say = Callable[[], None]  # told while waiting; may raise to leave, and what is under way is found by the next pull


class InterruptibleSteps:
    """At most one generator, and at most one step of it under way; ``name`` is the session's for the runner.

    One thread at a time asks for a step; any may let the generator go.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="film")
        self._steps: Iterator[Step] | None = None
        self._pending: Future[Step | None] | None = None
        self._cancel: Callable[[], object] = lambda: None
        self._changing = Lock()

    def next(self, runner: Runner, request: GenerateRequest, say: Say) -> Step | None:
        """The next step of the generator; one for this request is begun where there is none. None at its end.

        Raises Cancelled where the generator was let go meanwhile.
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
            self.close()  # the generator is at its end; the next pull starts another where this one stopped
            raise

    def close(self) -> None:
        """Let the generator go. A step under way is cancelled, and what it may still bring is dropped."""
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
