"""A runner in this process: one engine, and the thread that works for it."""

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
        """``feature_extractor`` makes sounds ready for a model that listens. ``kept`` holds its captures, beside what
        else it holds; None: a gigabyte of its own. ``has_head`` and ``filled``: what did not come with its weights, see
        :mod:`model_runner.local.loading.missing_weights`. ``base`` is the runner of the same model without its
        adapter's changes. ``lent`` is somebody else's model whose weights this one shares, and what is called when they
        were changed.

        Raises NotCapturable, with the reason, for a model whose attention cannot be recorded exactly.
        """
        model = move_model(model, device)
        self._follow = None if lent is None else lent[1]
        self._weights = WeightsState(model if lent is None else lent[0], buffers=lent is not None)
        self._read_by = self._weights.count()  # the weights that answered last
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
        """Ask without waiting; a newer question of the same session cancels this one. Raises WrongModel at once.

        A capture that is kept is there at once, whatever the model works on meanwhile.
        ``allow`` looks at each question first, and raises the RunnerError of one that is refused.
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
        """Of a base, the runner of the model with the adapter's changes."""
        return None if self._adapted is None else self._adapted()

    @property
    def lost(self) -> bool:
        """Whether its worker hangs, or that of its base: then it answers nothing more."""
        return self.worker.lost or (self.base is not None and self.base.lost)

    def __enter__(self) -> LocalRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def forget(self) -> None:
        """Keep no capture any more, and nothing else that was found out about the weights: the next text is read anew.

        Only a change of the weights that torch does not count makes it needed: one through ``weight.data``.
        """
        self._open()
        self.worker.submit(lambda _: self._forget()).result()

    def close(self) -> None:
        """No further question is answered: each raises RunnerClosed. What is kept of this model is let go."""
        self._closed = True
        if self.base is not None:
            self.base.close()
        self.give_up()

    def give_up(self) -> None:
        """The same for others, who may have it loaded again: a question raises Cancelled, which is asked again."""
        self.worker.close()
        self.engine.cache.clear()
        if self.base is not None:
            self.base.give_up()

    def _open(self) -> None:
        if self._closed:
            raise RunnerClosed(name=self.info.name)

    def _notice_changes(self) -> None:
        """On the model's thread. Raises ModelChanged."""
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
        """Nothing goes on for this session: its job ends before the next layer, what grows for it is let go."""
        self.worker.cancel(session)
        self._answers.end_runs(session)

    def capture(self, request: CaptureRequest | str) -> Capture:
        """The capture of this request, or text, from the cache or by one forward; waits for its turn.

        Raises RunnerError.
        """
        return self.submit(capture_request(request)).result()

    def capture_many(self, requests: Iterable[CaptureRequest | str], *, batch_size: int = 16) -> Generator[Capture]:
        """The captures of these requests, or texts, in their order, one at each ``next``.

        Up to ``batch_size`` of them are one forward, padded on the right, where no token looks at later ones and
        nothing is edited: numbers differ from those of one text alone by rounding. Others are read one by one.
        Raises RunnerError, at the batch in which a request cannot be captured, and ValueError for a batch of none.
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
        """One token more at each ``next``, see :func:`model_runner.growing.generate`. Raises WrongModel at once."""
        return growing.generate(self, resolved_question(generate_request(request), self.info), session)

    def race(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[RaceStep]:
        """The same greedily with a cache of keys and values and without, see :func:`model_runner.growing.race`."""
        return growing.race(self, resolved_question(generate_request(request), self.info), session)

    def token_text(self, token_id: int) -> str:
        """A token of the vocabulary as it is drawn."""
        return display(self.engine.tokenizer, token_id)

    def ids_of(self, text: str) -> tuple[int, ...]:
        """Token ids of a piece of text by itself, without special tokens."""
        return tuple(self.engine.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    @property
    def has_chat_template(self) -> bool:
        """Whether a text can be read as a turn of a chat."""
        return bool(self.engine.tokenizer.chat_template)
