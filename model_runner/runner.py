"""The runner protocol: an object that answers questions about one model, in this process or elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, overload, runtime_checkable

from model_runner.adapter import AdapterInfo
from model_runner.capture import Capture
from model_runner.class_scores import Scale
from model_runner.errors import N_, ContextFull, WrittenFull
from model_runner.job import Job
from model_runner.kv import RaceStep
from model_runner.question import Question
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.step import Step
from model_runner.tokens import TokenizerInfo

A = TypeVar("A")

FITS = N_("Only {number} tokens fit after the text: this model was built for {limit} positions.")
FITS_WRITTEN = N_("Only {number} tokens fit after the output: this model has {limit} positions for it.")


@dataclass(frozen=True)
class ModelInfo:
    """The facts of a loaded model; counts are of its first attention layer, of the decoder's if it has two stacks."""

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
    attentions: tuple[str, ...] = ()  # for an encoder–decoder, as in a capture
    unbounded: bool = False  # it reads texts of any length; max_tokens is what its tokenizer was made for
    max_written: int | None = None  # for an encoder–decoder, the most tokens that it may write
    classes: tuple[str, ...] = ()  # that a classifier scores in place of tokens, by id
    class_scale: Scale = "softmax"  # how those scores are to be read
    adapter: AdapterInfo | None = None  # with which it was opened
    filled: tuple[str, ...] = ()  # tensors in no weight file, which the model's own code fills with fixed numbers
    hears: float = 0.0  # seconds of sound that its encoder reads, always all of them; 0: it reads texts
    tokenizer: TokenizerInfo = field(default_factory=lambda: TokenizerInfo(""))
    weights: str = ""  # their fingerprint when the model was opened

    @property
    def room(self) -> int:
        """The most tokens of a growing text: the whole text, or the output of an encoder–decoder."""
        return self.max_tokens if self.max_written is None else self.max_written

    def no_room(self, tokens: int) -> ContextFull:
        """The error when a text, or the output of an encoder–decoder, has so many tokens that no other can follow."""
        return (WrittenFull if self.attentions else ContextFull)(tokens=tokens, limit=self.room)

    @property
    def little_room(self) -> str:
        """The message that fewer tokens fit than were requested, with placeholders ``{number}`` and ``{limit}``."""
        return FITS_WRITTEN if self.attentions else FITS


@runtime_checkable
class Runner(Protocol):
    """Answers questions about one model, one at a time."""

    info: ModelInfo

    @property
    def base(self) -> Runner | None:
        """For a model with an adapter's changes, the one without; None if there are no such changes."""
        ...

    @property
    def adapted(self) -> Runner | None:
        """For a base that was opened for an adapter, the model with its changes."""
        ...

    @overload
    def submit(self, question: CaptureRequest, *, session: str | None = None) -> Job[Capture]: ...
    @overload
    def submit(self, question: Question[A], *, session: str | None = None) -> Job[A]: ...
    def submit(self, question: object, *, session: str | None = None) -> Job[object]:
        """Submit one of :mod:`model_runner.questions`, or a capture request, without waiting; the job gives the answer.

        A newer question of the same session cancels the older one.
        """
        ...

    def cancel(self, session: str) -> None:
        """Cancel everything of this session: its job ends before the next layer, and its growing texts are released."""
        ...

    def capture(self, request: CaptureRequest | str) -> Capture:
        """The capture of this request, or text, from the cache or by one forward. Raises RunnerError."""
        ...

    def generate(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[Step]:
        """Generate one token per ``next``, with its full capture; nothing runs in between. Raises RunnerError."""
        ...

    def race(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[RaceStep]:
        """The greedy continuation with and without a KV cache, one token per ``next``."""
        ...

    @property
    def has_chat_template(self) -> bool:
        """Whether the model has a chat template."""
        ...

    def token_text(self, token_id: int) -> str:
        """The display text of a token of the vocabulary."""
        ...

    def ids_of(self, text: str) -> tuple[int, ...]:
        """The token ids of a piece of text alone, without special tokens."""
        ...
