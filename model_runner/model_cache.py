"""Opens models, in this process or on a server, with the progress of loading."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, Protocol, runtime_checkable

from model_runner.byte_lru import ByteBudgetCache
from model_runner.errors import Cancelled
from model_runner.preview import ModelPreview
from model_runner.runner import Runner

Device = Literal["auto", "cuda", "mps", "cpu"]
Dtype = Literal["auto", "float32", "bfloat16", "float16", "int8", "nf4"]


@runtime_checkable
class Loading(Protocol):
    """A model being loaded."""

    progress: tuple[str, int, int]  # (stage, done, total), in bytes while it downloads
    preview: ModelPreview | None

    def wait(self, seconds: float) -> bool:
        """Wait this long for loading to end, and return whether it did. Loading continues as long as this is called."""
        ...

    @property
    def failed(self) -> bool:
        """Whether loading ended without a model."""
        ...

    def result(self) -> Runner:
        """The runner. Raises the RunnerError that loading failed with, or Cancelled if nobody waited for it."""
        ...


@runtime_checkable
class ModelCache(Protocol):
    """Models by name, each opened once; ``kept`` is this process's cache of their texts."""

    kept: ByteBudgetCache

    def open(
        self,
        name: str,
        *,
        device: Device = "auto",
        dtype: Dtype = "auto",
        ask_hub: bool = True,
        agreed: Collection[str] = (),
    ) -> Loading:
        """The model, loaded, loading or queued. Raises RunnerError."""
        ...

    def work(self) -> tuple[int, float]:
        """The number of pending questions, and the seconds that all models have worked, as far as known."""
        ...

    def runner(
        self,
        name: str,
        say: Callable[[str, int, int], None],
        show: Callable[[ModelPreview], None] = lambda _: None,
        *,
        device: Device = "auto",
        dtype: Dtype = "auto",
        ask_hub: bool = True,
        agreed: Collection[str] = (),
    ) -> Runner:
        """Open the model and wait for it; ``say`` is called with the progress ten times a second. Raises RunnerError.

        ``show`` gets its preview as soon as there is one, even if the model cannot be loaded; it is not called for a
        model that is already loaded.
        """
        while True:
            loading = self.open(name, device=device, dtype=dtype, ask_hub=ask_hub, agreed=agreed)
            shown = None
            while not loading.wait(0.1):
                say(*loading.progress)
                if loading.preview is not None and loading.preview != shown:
                    shown = loading.preview
                    show(shown)
            if loading.preview is not None and loading.failed:
                show(loading.preview)
            try:
                return loading.result()
            except Cancelled:  # cancelled just as this caller began to wait for a load that others had abandoned
                continue
