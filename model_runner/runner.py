"""What a runner is: something that answers requests about one model, in this process or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from model_runner.capture import Capture
from model_runner.request import CaptureRequest
from model_runner.worker import Job


@dataclass(frozen=True)
class ModelInfo:
    """The facts of a loaded model; counts of its first attention layer where layers differ."""

    name: str
    revision: str | None
    family: str
    dtype: str
    device: str
    n_layers: int
    n_heads: int
    n_kv_heads: int
    n_parameters: int
    n_vocab: int
    max_tokens: int


class Runner(Protocol):
    """Answers capture requests for one model, one at a time."""

    info: ModelInfo

    def capture(self, request: CaptureRequest) -> Capture:
        """The capture of this request, from the cache or by one forward. Raises RunnerError."""
        ...

    def submit(self, request: CaptureRequest, *, session: str | None = None) -> Job[Capture]:
        """The same without waiting; a newer request of the same session cancels this one."""
        ...

    def token_text(self, token_id: int) -> str:
        """A token of the vocabulary as it is drawn."""
        ...
