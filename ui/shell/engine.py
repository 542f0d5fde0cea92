"""The engine (torch, transformers and what needs them) is imported once, in a thread of its own.

Two sessions that import it at the same time would see each other's half-made modules: the libraries below it import
one another in circles, and Python then hands out what is there so far rather than wait for ever. And a run that imports
could not be left: whoever types, or opens another page, would wait for the rest of it.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

PAUSE = 0.05  # seconds between two looks at whether it is there
TO_PAINT = 1.0  # seconds at most in which a browser paints the frame before the import takes a processor from it


@contextmanager
def _no_collection() -> Generator[None]:
    """What is imported here stays: the collector does not look at it, neither now nor later.

    It would find nothing, take a quarter of the import's time, and later a fifth of a second each time it looks at all
    objects, which are 360,000.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class _Engine:
    """Its import: begun by whoever asks first, and once more by the next after one that failed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self.is_up = False

    def _run(self, painted: Callable[[], bool]) -> None:
        until = time.monotonic() + TO_PAINT
        while not painted() and time.monotonic() < until:
            time.sleep(PAUSE / 5)
        self._import()

    def _import(self) -> None:
        try:
            with _no_collection():
                from ui.shared import (  # what all pages share, and with it model_runner, torch and transformers
                    export_bundle,
                    what_if,
                )

            _ = export_bundle, what_if
            self.is_up = True
        except BaseException as error:  # noqa: BLE001  it is raised where the engine is waited for
            self._error = error

    def begin(self, painted: Callable[[], bool]) -> threading.Thread:
        with self._lock:
            if self._thread is None or (self._error is not None and not self._thread.is_alive()):
                self._error = None
                self._thread = threading.Thread(target=self._run, args=(painted,), name="engine", daemon=True)
                self._thread.start()
            return self._thread

    def wait(self, look: Callable[[], object], painted: Callable[[], bool]) -> None:
        thread = self.begin(painted)
        while thread.is_alive():
            thread.join(PAUSE)
            look()
        if self._error is not None:
            raise self._error


_ENGINE = _Engine()


def engine_is_up() -> bool:
    """Whether what pages show can be imported at once."""
    return _ENGINE.is_up


def import_engine(look: Callable[[], object] = lambda: None, painted: Callable[[], bool] = lambda: True) -> None:
    """After the frame is painted, and before a page imports what it shows. Raises what the import raised.

    ``look`` is called while it is waited for: a look at the session, say, in which a newer run takes over.
    ``painted``: whether the browser has the frame; the import waits for that a little, for it takes a processor.
    """
    if not _ENGINE.is_up:
        _ENGINE.wait(look, painted)
