"""What a runner is: something that answers questions about one model, in this process or elsewhere."""

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
    """The facts of a loaded model; counts of its first attention layer, of its decoder where it has two stacks."""

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
    attentions: tuple[str, ...] = ()  # of an encoder–decoder, as a capture has them
    unbounded: bool = False  # of itself it reads any length; max_tokens is what its tokenizer was made for
    max_written: int | None = None  # of an encoder–decoder, what it may write
    classes: tuple[str, ...] = ()  # that a classifier scores in place of tokens, by their ids
    class_scale: Scale = "softmax"  # what those scores are to be read as
    adapter: AdapterInfo | None = None  # that it was opened with
    filled: tuple[str, ...] = ()  # tensors that are in no file of weights, which its own code fills with fixed numbers
    hears: float = 0.0  # seconds of sound that its encoder reads, all of them each time; 0: it reads texts
    tokenizer: TokenizerInfo = field(default_factory=lambda: TokenizerInfo(""))
    weights: str = ""  # their fingerprint, as they were when the model was opened

    @property
    def room(self) -> int:
        """How many tokens a text that grows may have: the whole text, or what an encoder–decoder writes."""
        return self.max_tokens if self.max_written is None else self.max_written

    def no_room(self, tokens: int) -> ContextFull:
        """After so many tokens of a text, or of what an encoder–decoder writes, no other can follow."""
        return (WrittenFull if self.attentions else ContextFull)(tokens=tokens, limit=self.room)

    @property
    def little_room(self) -> str:
        """What says that fewer tokens fit than were asked for; it names their ``{number}`` and the ``{limit}``."""
        return FITS_WRITTEN if self.attentions else FITS


@runtime_checkable
class Runner(Protocol):
    """Answers questions about one model, one at a time."""

    info: ModelInfo

    @property
    def base(self) -> Runner | None:
        """Of a model with an adapter's changes, the one without; None where there are none."""
        ...

    @property
    def adapted(self) -> Runner | None:
        """The other way round: of a base that was opened for an adapter, the model with its changes."""
        ...

    @overload
    def submit(self, question: CaptureRequest, *, session: str | None = None) -> Job[Capture]: ...
    @overload
    def submit(self, question: Question[A], *, session: str | None = None) -> Job[A]: ...
    def submit(self, question: object, *, session: str | None = None) -> Job[object]:
        """Ask one of :mod:`model_runner.questions`, or for a capture, without waiting; the job gives the answer.

        A newer question of the same session cancels the older one.
        """
        ...

    def cancel(self, session: str) -> None:
        """Nothing goes on for this session: its job ends before the next layer, what grows for it is let go."""
        ...

    def capture(self, request: CaptureRequest | str) -> Capture:
        """The capture of this request, or text, from the cache or by one forward. Raises RunnerError."""
        ...

    def generate(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[Step]:
        """One token more at each ``next``, with everything kept of it; nothing runs in between. Raises RunnerError."""
        ...

    def race(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[RaceStep]:
        """The greedy continuation with a cache of keys and values and without, a token at each ``next``."""
        ...

    @property
    def has_chat_template(self) -> bool:
        """Whether a text can be read as a turn of a chat."""
        ...

    def token_text(self, token_id: int) -> str:
        """A token of the vocabulary as it is drawn."""
        ...

    def ids_of(self, text: str) -> tuple[int, ...]:
        """Token ids of a piece of text by itself, without special tokens."""
        ...
