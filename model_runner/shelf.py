"""The models held in memory, by name: loaded once in a thread of their own, the least recently used given up first."""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field

from model_runner.loading import load_runner
from model_runner.local import LocalRunner

MOST_MODELS = 2


@dataclass(eq=False)
class Loading:
    """A model on its way: ``progress`` is (stage, done, total), bytes while it downloads."""

    progress: tuple[str, int, int] = ("waiting", 0, 0)
    future: Future[LocalRunner] = field(init=False)

    def report(self, stage: str, done: int, total: int) -> None:
        self.progress = (stage, done, total)

    def wait(self, seconds: float) -> bool:
        """Whether loading ended, well or not, within this time."""
        try:
            self.future.exception(timeout=seconds)
        except FutureTimeout:
            return False
        return True

    def result(self) -> LocalRunner:
        """The runner. Raises the RunnerError that loading ended with."""
        return self.future.result()


class Shelf:
    """At most ``MOST_MODELS`` runners; a failed loading is forgotten, so that it can be tried again."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="loading")
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Loading] = OrderedDict()

    def open(self, name: str) -> Loading:
        """The model, loaded, loading or queued."""
        with self._lock:
            loading = self._held.get(name)
            if loading is None:
                loading = Loading()
                loading.future = self._pool.submit(self._load, name, loading)
                self._held[name] = loading
            self._held.move_to_end(name)
            return loading

    def _load(self, name: str, loading: Loading) -> LocalRunner:
        try:
            return load_runner(name, progress=loading.report, make_room=self._make_room)
        except BaseException:  # its traceback holds what was loaded so far: forgotten at once, not when asked again
            with self._lock:
                if self._held.get(name) is loading:
                    del self._held[name]
            raise

    def _make_room(self) -> None:
        """Give up the oldest loaded models, so that the new one finds its memory free."""
        with self._lock:
            loaded = [key for key, held in self._held.items() if held.future.done()]
            for name in loaded[: max(0, len(loaded) - MOST_MODELS + 1)]:
                self._held.pop(name).result().worker.close()
        gc.unfreeze()  # a runner and its captures hold each other, and loading froze them: only now can they be freed
        gc.collect()
