"""What a runner is: something that answers requests about one model, in this process or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from jaxtyping import Float
from torch import Tensor

from model_runner.anatomy import Anatomy
from model_runner.beam import BeamSearch
from model_runner.capture import Capture
from model_runner.generation import Step
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.rerun import Rerun
from model_runner.worker import Job

if TYPE_CHECKING:
    from model_runner.kv_trials import KvTrials  # which needs ModelInfo

T = TypeVar("T")


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


def describe(model: Any, tokenizer: Any, anatomy: Anatomy, name: str, revision: str | None) -> ModelInfo:
    """The facts of this model under this name."""
    config = model.config
    limits = [getattr(config, "max_position_embeddings", None), tokenizer.model_max_length]
    return ModelInfo(
        name=name,
        revision=revision,
        family=str(config.model_type),
        dtype=str(model.dtype).removeprefix("torch."),
        device=str(model.device),
        n_layers=len(anatomy.layers),
        n_heads=anatomy.n_heads,
        n_kv_heads=anatomy.n_kv_heads,
        n_parameters=model.num_parameters(),
        n_vocab=config.vocab_size,
        max_tokens=int(min(limit for limit in limits if limit)),
    )


class Runner(Protocol):
    """Answers capture requests for one model, one at a time."""

    info: ModelInfo
    kv: KvTrials

    @property
    def has_chat_template(self) -> bool:
        """Whether a text can be read as a turn of a chat."""
        ...

    def capture(self, request: CaptureRequest) -> Capture:
        """The capture of this request, from the cache or by one forward. Raises RunnerError."""
        ...

    def submit(self, request: CaptureRequest, *, session: str | None = None) -> Job[Capture]:
        """The same without waiting; a newer request of the same session cancels this one."""
        ...

    def beam_search(self, request: GenerateRequest, *, width: int, session: str | None = None) -> BeamSearch:
        """The best continuations by beam search with 2 to 5 beams, and how it came to them. Raises RunnerError."""
        ...

    def submit_beams(self, request: GenerateRequest, *, width: int, session: str | None = None) -> Job[BeamSearch]:
        """The same without waiting; a newer request of the same session cancels this one."""
        ...

    def generate(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[Step]:
        """One token more at each ``next``, with everything kept of it; nothing runs in between. Raises RunnerError."""
        ...

    def rerun(self, capture: Capture, work: Callable[[Rerun], T], *, session: str | None = None) -> Job[T]:
        """Work on the upper layers alone, see :mod:`model_runner.rerun`; a newer request of the session cancels it."""
        ...

    def token_text(self, token_id: int) -> str:
        """A token of the vocabulary as it is drawn."""
        ...

    def ids_of(self, text: str) -> tuple[int, ...]:
        """Token ids of a piece of text by itself, without special tokens."""
        ...

    def learned_positions(self) -> Float[Tensor, "positions d_model"] | None:
        """The vector of every position from 0 on that the model learned; None where it learned none."""
        ...
