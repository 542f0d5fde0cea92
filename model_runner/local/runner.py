"""A runner in this process: an engine, and the thread that it runs on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar, overload
from weakref import ref

from transformers import WhisperFeatureExtractor

from model_runner import growing
from model_runner.adapter import AdapterInfo
from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture
from model_runner.errors import ModelChanged, RunnerClosed
from model_runner.head_matrices import MatricesOfHeads
from model_runner.kv import RaceStep
from model_runner.local.cancellation import checked
from model_runner.local.dispatch import QuestionDispatcher
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.loading.devices import move_model, on_one_device
from model_runner.local.loading.sandboxed_tokenizer import Tokenizer
from model_runner.local.recording.rope_switch import forget_lengths
from model_runner.local.tokenizing import display
from model_runner.local.weights_state import WeightsState
from model_runner.local.worker import QueuedJob, Worker
from model_runner.question import Question
from model_runner.request import CaptureRequest, GenerateRequest, capture_request, generate_request, several
from model_runner.resolve_request import resolved_question
from model_runner.step import Step

A = TypeVar("A")

CACHE_BYTES = 1 << 30


class LocalRunner(MatricesOfHeads):
    """Answers for an unmodified Hugging Face model and its tokenizer."""

    def __init__(  # noqa: PLR0913  what stands beside a model, by keyword
        self,
        model: Any,
        tokenizer: Tokenizer,
        *,
        name: str,
        revision: str | None = None,
        device: str | None = None,
        has_head: bool = True,
        filled: tuple[str, ...] = (),
        feature_extractor: WhisperFeatureExtractor | None = None,
        kept: ByteBudgetCache | None = None,
        adapter: AdapterInfo | None = None,
        base: LocalRunner | None = None,
        lent: tuple[Any, Callable[[], None]] | None = None,
    ) -> None:
        """``feature_extractor`` prepares sounds for a model that reads audio.

        ``kept`` is the shared cache of captures; None: one of its own, of a gigabyte. ``has_head`` and ``filled``: what
        was missing from its weights, see :mod:`model_runner.local.loading.missing_weights`. ``base`` is the runner of
        the same model without its adapter's changes. ``lent`` is the caller's model that shares its weights with this
        one, and a function to call when they change.

        Raises NotCapturable, with the reason, for a model whose attention cannot be recorded exactly.
        """
        model = move_model(model, device)
        self._follow = None if lent is None else lent[1]
        self._weights = WeightsState(model if lent is None else lent[0], buffers=lent is not None)
        self._read_by = self._weights.count()  # the weights at the last answer
        of_it: Any = {
            "name": name, "revision": revision, "kept": kept or ByteBudgetCache(CACHE_BYTES), "weights": self._weights,
        }  # fmt: skip
        forget_lengths(model)
        self.engine: Engine | EncoderDecoder
        if getattr(model.config, "is_encoder_decoder", False):
            self.engine = EncoderDecoder(model, tokenizer, self, feature_extractor=feature_extractor, **of_it)
        else:
            self.engine = Engine(model, tokenizer, self, has_head=has_head, **of_it)
        self.engine.info = replace(self.engine.info, adapter=adapter, filled=filled)
        self.info = self.engine.info
        self.base = base
        self._adapted: ref[LocalRunner] | None = None
        if base is not None:
            base._adapted = ref(self)
        self.worker = Worker(name)
        self._closed = False
        self._answers = QuestionDispatcher(self.engine)
        self.allow: Callable[[object], None] = lambda _question: None

    def __repr__(self) -> str:
        info = self.info
        sizes = f"{info.n_layers} layers, {info.n_heads} heads"
        return f"<Runner: {info.name} ({info.family}), {sizes}, {info.dtype} on {info.device}>"

    @overload
    def submit(self, question: CaptureRequest, *, session: str | None = None) -> QueuedJob[Capture]: ...
    @overload
    def submit(self, question: Question[A], *, session: str | None = None) -> QueuedJob[A]: ...
    def submit(self, question: Any, *, session: str | None = None) -> QueuedJob[Any]:
        """Submit a question without waiting; it cancels the session's previous one. Raises WrongModel immediately.

        A cached capture is returned at once, even while the model is busy. ``allow`` checks each question first, and
        raises the RunnerError of one that is refused.
        """
        self._open()
        self.allow(question)
        question = resolved_question(question, self.info)
        if isinstance(question, CaptureRequest) and (kept := self.engine.kept(question)) is not None:
            return self.worker.answered(kept, session)

        def answer(job: QueuedJob[Any]) -> Any:
            with checked(job.check), on_one_device():
                self._notice_changes()
                return self._answers.answer(question, session)

        return self.worker.submit(answer, session)

    @property
    def adapted(self) -> LocalRunner | None:
        """For a base, the runner of the model with the adapter's changes."""
        return None if self._adapted is None else self._adapted()

    @property
    def lost(self) -> bool:
        """Whether its worker, or that of its base, hangs; it then answers nothing more."""
        return self.worker.lost or (self.base is not None and self.base.lost)

    def __enter__(self) -> LocalRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def forget(self) -> None:
        """Discard every cached capture and everything determined from the weights; the next text is run anew.

        This is only needed after a change of the weights that torch does not count, one through ``weight.data``.
        """
        self._open()
        self.worker.submit(lambda _: self._forget()).result()

    def close(self) -> None:
        """Close the runner: further questions raise RunnerClosed. Its cached captures are released."""
        self._closed = True
        if self.base is not None:
            self.base.close()
        self.give_up()

    def give_up(self) -> None:
        """Like :meth:`close`, but for a model that may be loaded again: questions raise Cancelled, and are retried."""
        self.worker.close()
        self.engine.cache.clear()
        if self.base is not None:
            self.base.give_up()

    def _open(self) -> None:
        if self._closed:
            raise RunnerClosed(name=self.info.name)

    def _notice_changes(self) -> None:
        """Check for changed weights, on the model's thread. Raises ModelChanged."""
        count = self._weights.count()
        if self._follow is not None and not self._weights.same_parts():
            raise ModelChanged(name=self.info.name)
        if count != self._read_by:
            if self._follow is not None:
                self._follow()
            self._forget()
            self._read_by = count

    def _forget(self) -> None:
        self.engine.forget()
        self._answers.end_all_runs()

    def cancel(self, session: str) -> None:
        """Cancel everything of this session: its job ends before the next layer, and its growing texts are released."""
        self.worker.cancel(session)
        self._answers.end_runs(session)

    def capture(self, request: CaptureRequest | str) -> Capture:
        """The capture of this request or text, from the cache or by a forward; blocks until it is done.

        Raises RunnerError.
        """
        return self.submit(capture_request(request)).result()

    def capture_many(self, requests: Iterable[CaptureRequest | str], *, batch_size: int = 16) -> Generator[Capture]:
        """Yield the captures of these requests or texts, in their order.

        Up to ``batch_size`` of them share a forward, padded on the right, if no token attends to later ones and nothing
        is edited: the numbers then differ by rounding from those of a text alone. Other texts are run one by one.
        Raises RunnerError at the batch with a request that cannot be captured, and ValueError if ``batch_size`` is less
        than 1.
        """
        if batch_size < 1:
            raise ValueError(f"A batch has at least one text, not {batch_size}.")
        coming = several(requests)
        while batch := list(islice(coming, batch_size)):
            asked = [capture_request(one) for one in batch]
            for one in asked:
                self.allow(one)
            yield from self._together([resolved_question(one, self.info) for one in asked]).result()

    def _together(self, requests: list[CaptureRequest]) -> QueuedJob[list[Capture]]:
        self._open()

        def answer(job: QueuedJob[list[Capture]]) -> list[Capture]:
            with checked(job.check), on_one_device():
                self._notice_changes()
                if isinstance(self.engine, EncoderDecoder):
                    return [self.engine.capture(one) for one in requests]
                return self.engine.capture_together(requests)

        return self.worker.submit(answer, None)

    def generate(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[Step]:
        """Generate one token per ``next``, see :func:`model_runner.growing.generate`. Raises WrongModel immediately."""
        return growing.generate(self, resolved_question(generate_request(request), self.info), session)

    def race(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[RaceStep]:
        """Generate greedily with and without a KV cache, see :func:`model_runner.growing.race`."""
        return growing.race(self, resolved_question(generate_request(request), self.info), session)

    def token_text(self, token_id: int) -> str:
        """The display text of a token of the vocabulary."""
        return display(self.engine.tokenizer, token_id)

    def ids_of(self, text: str) -> tuple[int, ...]:
        """The token ids of a piece of text alone, without special tokens."""
        return tuple(self.engine.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    @property
    def has_chat_template(self) -> bool:
        """Whether the model has a chat template."""
        return bool(self.engine.tokenizer.chat_template)
