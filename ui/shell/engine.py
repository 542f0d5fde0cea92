"""Import the engine (torch, transformers and what depends on them) once, in a thread of its own.

If two sessions imported it at the same time, each could see partially initialized modules: these libraries have
circular imports, for which Python returns the module as far as it exists rather than deadlock. And an import in a
page's run could not be interrupted: a reader who types or opens another page would have to wait for its end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from jobs.uncollected_imports import uncollected_imports

PAUSE = 0.05  # seconds between checks whether the import is done
TO_PAINT = 1.0  # longest wait, in seconds, for the browser to paint the frame before the import takes a processor


class _Engine:
    """The import of the engine: started by the first caller, and again by the next caller after a failure."""

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
            with uncollected_imports():
                from ui.shared import (  # what all pages share, which imports model_runner, torch and transformers
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
    """Return True if the engine is imported."""
    return _ENGINE.is_up


def import_engine(look: Callable[[], object] = lambda: None, painted: Callable[[], bool] = lambda: True) -> None:
    """Import the engine after the frame is painted and before a page imports its own modules. Raises the import's
    errors.

    ``look`` is called repeatedly while waiting; reading the session in it lets a newer run take over. ``painted``
    returns True once the browser has the frame; the import, which occupies a processor, waits for that up to a second.
    """
    if not _ENGINE.is_up:
        _ENGINE.wait(look, painted)
