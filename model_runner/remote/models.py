"""The models of a server, as the app opens them: they are loaded there, and their progress is shown here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from model_runner import memory
from model_runner.byte_lru import ByteBudgetCache
from model_runner.errors import ModelNotListed, RunnerError
from model_runner.model_cache import Device, Dtype, ModelCache
from model_runner.preview import ModelPreview
from model_runner.remote.runner import RemoteRunner
from model_runner.remote.server_link import ServerLink

AT_ONCE = 2  # attempts for the first request: whoever opens a model learns quickly that there is no server


@dataclass(eq=False)
class RemoteLoading:
    """A model being loaded on the server; loading continues while somebody waits."""

    link: ServerLink
    name: str
    made: Callable[[dict[str, object]], RemoteRunner]
    progress: tuple[str, int, int] = ("waiting", 0, 0)
    preview: ModelPreview | None = None
    _runner: RemoteRunner | None = None
    _error: RunnerError | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, seconds: float) -> bool:
        """Wait, and return whether loading ended. The server holds the request for as long before it answers."""
        until = time.monotonic() + seconds
        with self._lock:
            if not self._ended:
                self._look(seconds)
            ended = self._ended
        if not ended:
            time.sleep(max(0.0, min(until - time.monotonic(), 0.1)))
        return ended

    @property
    def _ended(self) -> bool:
        return self._runner is not None or self._error is not None

    def _look(self, seconds: float) -> None:
        try:
            path = f"/v1/models/{quote(self.name, safe='/')}?wait={min(seconds, 5.0):.2f}"
            told = self.link.value("GET", path, tries=AT_ONCE)
        except RunnerError as error:
            self._error = error
            return
        self.progress, self.preview = told["progress"], told["preview"]
        if told["info"] is not None:
            self._runner = self.made(told)

    @property
    def failed(self) -> bool:
        """Whether loading ended without a model."""
        return self._error is not None

    def result(self) -> RemoteRunner:
        """The runner. Raises the RunnerError that loading failed with."""
        while not self.wait(1.0):
            pass
        if self._error is not None:
            raise self._error
        assert self._runner is not None
        return self._runner


class RemoteModels(ModelCache):
    """The server decides which models there are, on which device and in which dtype."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        keep: str = "",
        seconds: float = 600.0,
        allow: Callable[[object], None] = lambda _question: None,
    ) -> None:
        """``keep``: memory for the captures cached here, for all models; ``allow`` raises the RunnerError of a refused
        question.
        """
        self.kept = ByteBudgetCache(memory.budget(keep))
        self.link = ServerLink(url, key, seconds=seconds)
        self._allow = allow
        self._lock = threading.Lock()
        self._held: dict[str, RemoteLoading] = {}

    def names(self) -> tuple[str, ...]:
        """The models that this key may use. Raises RunnerError."""
        return self.link.value("GET", "/v1/models", tries=AT_ONCE)

    def open(
        self,
        name: str,
        *,
        device: Device = "auto",
        dtype: Dtype = "auto",
        ask_hub: bool = True,
        agreed: Collection[str] = (),
    ) -> RemoteLoading:
        """The model, loaded or loading on the server, if the server offers it."""
        with self._lock:
            held = self._held.get(name)
            if held is None or held.failed:
                held = self._held[name] = RemoteLoading(self.link, name, lambda about: self._runner(name, about))
            return held

    def work(self) -> tuple[int, float]:
        """The number of pending questions; the seconds worked are counted by the server."""
        return self.link.open_jobs, 0.0

    def _runner(self, name: str, about: dict[str, object]) -> RemoteRunner:
        runner = RemoteRunner(self.link, name, about, kept=self.kept)
        for one in (runner, runner.base):
            if one is not None:
                one.allow = self._allow
        return runner


def remote_runner(url: str, key: str, *, seconds: float = 600.0) -> RemoteRunner:
    """A runner of the model named by the URL's path; without a path, of the first model that the server offers.

    Raises RunnerError.
    """
    parts = urlsplit(url)
    models = RemoteModels(f"{parts.scheme}://{parts.netloc}", key, seconds=seconds)
    name = unquote(parts.path.strip("/"))
    if not name:
        offered = models.names()
        if not offered:
            raise ModelNotListed(names="–")
        name = offered[0]
    return models.open(name).result()
