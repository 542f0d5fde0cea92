"""Where models are opened: in this process, or at a server. Whoever opens one waits for it, and hears how far it is."""

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
    """A model on its way."""

    progress: tuple[str, int, int]  # (stage, done, total), in bytes while it downloads
    preview: ModelPreview | None

    def wait(self, seconds: float) -> bool:
        """Whether loading ended, well or not, within this time. It goes on while this is asked again and again."""
        ...

    @property
    def failed(self) -> bool:
        """Whether it ended without a model."""
        ...

    def result(self) -> Runner:
        """The runner. Raises the RunnerError that loading ended with; Cancelled where nobody had waited for it."""
        ...


@runtime_checkable
class ModelCache(Protocol):
    """Models by name, each opened once; ``kept`` is what this process keeps of their texts."""

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
        """Questions that are not answered yet, and the seconds that all models have worked, as far as it is known."""
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
        """The model, waited for; ``say`` hears how far it is, ten times a second. Raises RunnerError.

        ``show`` gets its preview, as soon as there is one and where it cannot be loaded; none of one that is loaded.
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
            except Cancelled:  # at the very moment at which this one began to wait for what others had left
                continue
