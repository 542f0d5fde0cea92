"""Keeps models in memory by name: loads each once, holds a few at a time, and evicts the least recently used."""

from __future__ import annotations

import gc
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import NamedTuple

from model_runner import memory
from model_runner.byte_lru import ByteBudgetCache
from model_runner.errors import Cancelled, FolderNotAsked, LoadingTooLong, ModelNotListed
from model_runner.local.loading.loader import load_runner
from model_runner.local.loading.model_folder import names_folder
from model_runner.local.runner import LocalRunner
from model_runner.local.worker import SILENCE
from model_runner.model_cache import Device, Dtype, ModelCache
from model_runner.preview import ModelPreview

MOST_MODELS = 2
MOST_LOADINGS = 4  # at the same time; weights are read one model after another, since each checks the free memory
PATIENCE = 10.0  # seconds after which a load that nobody waits for is cancelled
LONGEST = 1800.0  # seconds to read weights and set the model up


class ModelKey(NamedTuple):
    """What is loaded, and with which options; the same model in two dtypes has two keys."""

    name: str
    device: Device = "auto"
    dtype: Dtype = "auto"


@dataclass(eq=False)
class PendingLoad:
    """A model being loaded.

    ``progress``: (stage, done, total), in bytes while downloading; ``asked``: time of the last poll.
    """

    progress: tuple[str, int, int] = ("waiting", 0, 0)
    preview: ModelPreview | None = None
    future: Future[LocalRunner] = field(init=False)
    asked: float = field(default_factory=time.monotonic)
    until: float = float("inf")

    def report(self, stage: str, done: int, total: int) -> None:
        self.progress = (stage, done, total)
        self.until = time.monotonic() + LONGEST if stage in ("loading", "preparing") else float("inf")

    def look(self, preview: ModelPreview) -> None:
        self.preview = preview

    @property
    def lost(self) -> bool:
        """Whether the model is loaded and hangs, see :mod:`model_runner.local.worker`."""
        return self.future.done() and self.future.exception() is None and self.future.result().lost

    def wait(self, seconds: float) -> bool:
        """Wait this long for loading to end, and return whether it did. Loading continues as long as this is called."""
        self.asked = time.monotonic()
        try:
            self.future.exception(timeout=seconds)
        except FutureTimeout:
            return False
        return True

    @property
    def failed(self) -> bool:
        """Whether loading ended without a model."""
        return self.future.done() and self.future.exception() is not None

    def result(self) -> LocalRunner:
        """The runner. Raises the RunnerError that loading failed with, or Cancelled if nobody waited for it."""
        while not self.wait(PATIENCE / 2):
            pass
        return self.future.result()

    def check(self) -> None:
        """Raises Cancelled once nobody waits for it, LoadingTooLong if it takes too long."""
        now = time.monotonic()
        if now - self.asked > PATIENCE:
            raise Cancelled()
        if now > self.until:
            raise LoadingTooLong(minutes=int(LONGEST / 60))


class LocalModels(ModelCache):
    """Holds a few runners at a time; a failed load is forgotten, so that it can be retried.

    ``listed``: the only names that may be loaded; None: any. Visitors choose what is loaded here, so it is sandboxed
    (see :func:`model_runner.local.loading.loader.load_runner`), except for listed models, which the host has chosen.
    """

    def __init__(
        self,
        listed: tuple[str, ...] | None = None,
        *,
        keep: str = "",
        most: int = MOST_MODELS,
        allow: Callable[[object], None] = lambda _question: None,
        silence: float = SILENCE,
    ) -> None:
        """``keep``: memory for the captures of all models, see :func:`model_runner.memory.budget`; ``most``: models
        held.

        ``allow`` raises the RunnerError for a request that is refused. A model that shows no progress for ``silence``
        seconds is abandoned, and loaded anew when it is next opened.
        """
        self.kept = ByteBudgetCache(memory.budget(keep))
        self._listed, self._allow, self._most = listed, allow, most
        self._silence = silence
        self._worked = 0.0  # seconds worked by models that were evicted
        self._left = False  # whether one of them hung; its thread is still there
        self._pool = ThreadPoolExecutor(MOST_LOADINGS, thread_name_prefix="loading")
        self._lock = threading.Lock()
        self._room = threading.Lock()  # held from checking memory until it is allocated
        self._held: OrderedDict[ModelKey, PendingLoad] = OrderedDict()

    def open(
        self,
        name: str,
        *,
        device: Device = "auto",
        dtype: Dtype = "auto",
        ask_hub: bool = True,
        agreed: Collection[str] = (),
    ) -> PendingLoad:
        """The model, loaded, loading or queued; without ``ask_hub``, a hub model only if it is cached.

        Loading a folder then ends with FolderNotAsked, since only a URL named it. ``agreed``: bases outside its own
        folder that an adapter may be opened with, see :func:`model_runner.local.loading.loader.load_runner`.

        A list of models holds only names, so on such a server every model is loaded with "auto".

        Raises ModelNotListed.
        """
        if self._listed is not None and name not in self._listed:
            raise ModelNotListed(names=", ".join(self._listed))
        asked = ModelKey(name, device, dtype) if self._listed is None else ModelKey(name)
        with self._lock:
            loading = self._held.get(asked)
            if loading is not None and loading.lost:
                self._left = True
                self._give_up(self._held.pop(asked))
                loading = None
            if loading is None:
                loading = PendingLoad()
                loading.future = self._pool.submit(self._load, asked, loading, ask_hub, frozenset(agreed))
                self._held[asked] = loading
            self._held.move_to_end(asked)
            return loading

    @property
    def lost(self) -> bool:
        """Whether a model hangs and has not been replaced yet."""
        with self._lock:
            return any(loading.lost for loading in self._held.values())

    @property
    def hung(self) -> bool:
        """Whether a model of this process ever hung; only the end of the process frees what its thread holds."""
        return self._left or self.lost

    def work(self) -> tuple[int, float]:
        """The number of pending requests, and the seconds that all models have worked."""
        with self._lock:
            done = [one.future for one in self._held.values() if one.future.done() and not one.future.exception()]
            runners = [future.result() for future in done]
            workers = [one.worker for runner in runners for one in (runner, runner.base) if one is not None]
            return sum(one.queue for one in workers), self._worked + sum(one.seconds for one in workers)

    def _load(self, asked: ModelKey, loading: PendingLoad, ask_hub: bool, agreed: frozenset[str]) -> LocalRunner:
        def make_room() -> None:
            while not self._room.acquire(timeout=0.1):
                loading.check()
            held.append(True)
            self._make_room()

        held: list[bool] = []
        try:
            loading.check()
            if self._listed is None and not ask_hub and names_folder(asked.name):
                raise FolderNotAsked(name=asked.name)
            runner = load_runner(
                asked.name,
                device=asked.device,
                dtype=asked.dtype,
                progress=loading.report,
                preview=loading.look,
                make_room=make_room,
                check=loading.check,
                sandboxed=self._listed is None,
                ask_hub=ask_hub,
                agreed=agreed if self._listed is None else None,
                kept=self.kept,
            )
            for one in (runner, runner.base):
                if one is not None:
                    one.allow, one.worker.silence = self._allow, self._silence
            return runner
        except BaseException:  # its traceback holds what was loaded so far: release it at once, not at the next request
            with self._lock:
                if self._held.get(asked) is loading:
                    del self._held[asked]
            raise
        finally:
            if held:
                self._room.release()

    def _make_room(self) -> None:
        """Evict the oldest loaded models, so that their memory is free for the new one."""
        with self._lock:
            loaded = [key for key, held in self._held.items() if held.future.done()]
            oldest = loaded[: max(0, len(loaded) - self._most + 1)]
            for asked in oldest:
                self._give_up(self._held.pop(asked))
        if oldest:
            gc.collect()  # a runner and its captures reference each other

    def _give_up(self, loading: PendingLoad) -> None:
        given_up = loading.future.result()
        given_up.give_up()
        self._worked += sum(one.worker.seconds for one in (given_up, given_up.base) if one is not None)
