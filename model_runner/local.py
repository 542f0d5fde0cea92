"""A runner in this process: one model, one worker thread, one cache of captures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from model_runner import memory
from model_runner.anatomy import examine
from model_runner.arena import ALIGNMENT, Arena
from model_runner.attribution import DirectPath, prove
from model_runner.beam import BeamSearch, check_beams, search_beams
from model_runner.cache import CaptureCache
from model_runner.capture import Capture
from model_runner.edits import check_growing
from model_runner.errors import (
    CannotContinue,
    ContextFull,
    NoLogits,
    TextExceedsMemory,
)
from model_runner.generation import Generation, Step, end_tokens, prove_continuation, view
from model_runner.kv_trials import KvTrials
from model_runner.layer_edit import ForwardEdit, Shape, forward_edit
from model_runner.mask_rule import MaskRule
from model_runner.output_layer import output_logits
from model_runner.position_table import position_table
from model_runner.probe_rotation import probe_rotation
from model_runner.reading import explained, resolve, write
from model_runner.recording import CannotRecord, Recording, active
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.rerun import Rerun
from model_runner.row_cache import row_cache
from model_runner.runner import describe
from model_runner.series import Series
from model_runner.spare_block import SpareBlock
from model_runner.stream import watched
from model_runner.tokens import Writer, display
from model_runner.turning import RotationEdit
from model_runner.worker import Job, Worker

T = TypeVar("T")

CACHE_BYTES = 1 << 30


class LocalRunner:
    """Holds an unmodified Hugging Face model and its tokenizer, and answers for it."""

    def __init__(
        self,
        model: Any,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str,
        revision: str | None = None,
        device: str | None = None,
        has_head: bool = True,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """Raises NotCapturable, with the reason, for a model whose attention cannot be recorded exactly."""
        self.model = model.to(device or model.device).eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.anatomy = examine(self.model, name)
        self.has_head = has_head and self.anatomy.trunk.has_head
        self.info = describe(self.model, self.tokenizer, self.anatomy, name, revision)
        self.cache = CaptureCache(cache_bytes)
        self._spare = SpareBlock()
        self.worker = Worker(f"model {name}")
        self.kv = KvTrials(self.model, tokenizer, self.anatomy, self.info, self.worker, self.has_head)
        self._thetas: tuple[Tensor, ...] | None = None  # probed when they are first needed
        self._path: DirectPath | None = None  # proven when it is first asked for
        self._alone: dict[tuple[int, bool], bool] = {}  # layers that upper ones were run without, see Rerun.proven
        self._rules: dict[str, MaskRule] | None = None  # proven when the first text is continued

    def capture(self, request: CaptureRequest) -> Capture:
        """The capture of this request, from the cache or by one forward; waits for its turn. Raises RunnerError."""
        return self.submit(request).result()

    def submit(self, request: CaptureRequest, *, session: str | None = None) -> Job[Capture]:
        """The same without waiting; a newer request of the same session cancels this one."""
        request = resolve(request, self.info)
        return self.worker.submit(lambda job: self._capture(request, job), session)

    def generate(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[Step]:
        """One token more at each ``next``, a job of its own on the model's thread; nothing runs in between.

        The first one reads the text (prefill). A newer request of the session cancels the job under way, which ends
        the iterator. Raises RunnerError.
        """
        return self._generate(resolve(request, self.info), session)

    def beam_search(self, request: GenerateRequest, *, width: int, session: str | None = None) -> BeamSearch:
        """The best continuations by transformers' beam search, and how it came to them. Raises RunnerError."""
        return self.submit_beams(request, width=width, session=session).result()

    def submit_beams(self, request: GenerateRequest, *, width: int, session: str | None = None) -> Job[BeamSearch]:
        """The same without waiting; a newer request of the same session cancels this one."""
        check_beams(request, width)
        request = resolve(request, self.info)
        return self.worker.submit(lambda job: self._search(request, width, job), session)

    def token_text(self, token_id: int) -> str:
        """A token of the vocabulary as it is drawn."""
        return display(self.tokenizer, token_id)

    def ids_of(self, text: str) -> tuple[int, ...]:
        """Token ids of a piece of text by itself, without special tokens."""
        return tuple(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def learned_positions(self) -> Float[Tensor, "positions d_model"] | None:
        """The vector of every position from 0 on that the model learned; None where it learned none."""
        return self._do(lambda _: position_table(self.anatomy.trunk.module, self.info.n_vocab // 2), None)

    @property
    def has_chat_template(self) -> bool:
        """Whether a text can be read as a turn of a chat."""
        return bool(self.tokenizer.chat_template)

    def _capture(self, request: CaptureRequest, job: Job[Capture]) -> Capture:
        known = self.cache.get(request)
        if known is not None:
            return known
        job.check()
        writer = self._write(request)
        with explained(self.info, len(writer.tokens)):
            capture = self._forward(request, writer, job)
        self.cache.put(request, capture)
        return capture

    def _generate(self, request: GenerateRequest, session: str | None) -> Iterator[Step]:
        if request.max_new_tokens < 1:
            return
        generation = self._do(lambda job: self._begin(request, job), session)
        while True:
            step = self._do(lambda job: self._step(generation, job), session)
            yield step
            if step.stop:
                return

    def _do(self, work: Callable[[Job[T]], T], session: str | None) -> T:
        job = self.worker.submit(work, session)
        try:
            return job.result()
        finally:
            job.cancel()  # nobody waits for it any more, should it still run

    def _search(self, request: GenerateRequest, width: int, job: Job[BeamSearch]) -> BeamSearch:
        job.check()
        writer, capacity = self._to_continue(request)
        self._proven_rules()
        ids, ends = [token.id for token in writer.tokens], sorted(end_tokens(self.model))
        room = capacity - len(ids)
        with explained(self.info, len(ids)):
            return search_beams(
                self.model, self.anatomy.layers, ids, request, width=width, limit=room, ends=ends, check=job.check
            )

    def _to_continue(self, request: GenerateRequest) -> tuple[Writer, int]:
        """The tokens there are, and how many there may be in the end. Raises NoLogits, ContextFull, and more."""
        writer = self._write(request)
        count, limit = len(writer.tokens), self.info.max_tokens
        if not self.has_head:
            raise NoLogits(name=self.info.name)
        if count == limit:
            raise ContextFull(tokens=count, limit=limit)
        capacity = min(limit, count + request.max_new_tokens)
        self._check_memory(capacity)
        return writer, capacity

    def _begin(self, request: GenerateRequest, job: Job[Generation]) -> Generation:
        """Everything that is there goes through the model, with room kept for what follows."""
        job.check()
        writer, capacity = self._to_continue(request)
        rules, edit, arena = self._proven_rules(), self._edit(request), self._arena(capacity)
        series = Series(arena, capacity, row_cache(self.model, arena, capacity))

        def seen(n_tokens: int) -> Capture:
            return view(request, self.anatomy, writer, series, n_tokens, logits_of=self._logits, push_of=self._push)

        recording = Recording(self.anatomy.names, sink=series, known=rules, edit=edit)
        generation = Generation(
            self.model, self.anatomy, self._run_head, seen, writer, series, recording, request.sampling
        )
        with explained(self.info, len(writer.tokens)):
            generation.begin(job.check)
        return generation

    def _step(self, generation: Generation, job: Job[Step]) -> Step:
        job.check()
        with explained(self.info, len(generation.writer.tokens) + 1):
            return generation.step(job.check)

    def _proven_rules(self) -> dict[str, MaskRule]:
        if self._rules is None:
            try:
                self._rules = prove_continuation(self.model, self.anatomy)
            except CannotRecord as error:
                raise CannotContinue(name=self.info.name, family=self.info.family, reason=error.reason) from error
        return self._rules

    def _write(self, request: CaptureRequest | GenerateRequest) -> Writer:
        """The request's tokens, once it is clear that what is kept of them fits. Raises RunnerError."""
        writer = write(self.tokenizer, request, self.info)
        self._check_memory(len(writer.tokens))
        return writer

    def _check_memory(self, count: int) -> None:
        """Raises TextExceedsMemory where what is kept of so many tokens would not fit."""
        free = memory.available(self.model.device) // 2  # the other half is for the forward's own temporaries
        needed = self.anatomy.bytes_per_token * count
        if needed > free:
            fits = int(free / self.anatomy.bytes_per_token)
            raise TextExceedsMemory(
                tokens=count, limit=fits, needed=memory.readable(needed), free=memory.readable(free)
            )

    def _forward(self, request: CaptureRequest, writer: Writer, job: Job[Capture]) -> Capture:
        """One forward of the unmodified model with every layer recorded."""
        arena = self._arena(len(writer.tokens))
        recording = Recording(self.anatomy.names, keep=arena.keep, check=job.check, edit=self._edit(request))
        residuals: list[Tensor] = []
        layers = self.anatomy.layers
        with torch.no_grad(), watched(layers, lambda _, x: residuals.append(arena.keep(x))), active(recording):
            ids = torch.tensor([[token.id for token in writer.tokens]], device=self.model.device)
            output = self.anatomy.trunk.module(input_ids=ids, use_cache=False, return_dict=True)
        records = recording.records
        return Capture(
            request=request,
            tokens=tuple(writer.tokens),
            kinds=self.anatomy.kinds,
            records=tuple(records.get(self.anatomy.attention.get(i, "")) for i in range(len(layers))),
            residuals=tuple(residuals),
            hidden=arena.keep(output.last_hidden_state[0]),
            logits_of=self._logits,
            push_of=self._push,
            written=writer.text_of(len(writer.tokens)),
        )

    def _edit(self, request: CaptureRequest | GenerateRequest) -> ForwardEdit | None:
        """The request's edits together; the rotation is probed when the first edit of it comes. Raises RunnerError."""
        anatomy = self.anatomy
        if isinstance(request, GenerateRequest):
            check_growing(request.edits)
        if self._thetas is None and any(isinstance(edit, RotationEdit) for edit in request.edits):
            self._thetas = probe_rotation(anatomy.trunk.module, anatomy.names, self.info.max_tokens)
        shape = Shape(anatomy.attention, anatomy.kinds, anatomy.n_heads, anatomy.n_kv_heads)
        return forward_edit(request.edits, shape, self._thetas or ())

    def _arena(self, n_tokens: int) -> Arena:
        """Room for all that is kept of so many tokens: four vectors a layer, the stream before and after each."""
        pieces = 4 * len(self.anatomy.attention) + len(self.anatomy.layers) + 2
        needed = math.ceil(self.anatomy.bytes_per_token * n_tokens) + pieces * ALIGNMENT
        return Arena(self._spare.take(needed, self.model.device))

    def _logits(self, hidden: Float[Tensor, "tokens d_model"]) -> Float[Tensor, "tokens vocab"]:
        """What the model's output layer makes of these positions; its own code, soft-caps and scales included."""
        if not self.has_head:
            raise NoLogits(name=self.info.name)
        return self.worker.submit(lambda _: output_logits(self.model, self.anatomy.trunk, hidden[None])[0]).result()

    def rerun(self, capture: Capture, work: Callable[[Rerun], T], *, session: str | None = None) -> Job[T]:
        """Work that runs upper layers again on other streams than the capture's, see :mod:`model_runner.rerun`."""
        known = capture.logits(-1)  # before the job: the worker cannot wait for itself

        def head(hidden: Tensor) -> Tensor:
            return output_logits(self.model, self.anatomy.trunk, hidden)

        def rerun(job: Job[T]) -> Rerun:
            return Rerun(self.anatomy, head, capture, known, job.check, self._direct_path, self._alone)

        return self.worker.submit(lambda job: work(rerun(job)), session)

    def _push(self, layer: int, head: int, output: Tensor, stream: Tensor, hidden: Tensor) -> Float[Tensor, "vocab"]:
        """What one head's output adds to the logits of one position, see :mod:`model_runner.attribution`."""
        if not self.has_head:
            raise NoLogits(name=self.info.name)
        return self.worker.submit(lambda _: self._run_push(layer, head, output, stream, hidden)).result()

    def _run_push(
        self, layer: int, head: int, output: Tensor, stream: Tensor, hidden: Tensor
    ) -> Float[Tensor, "vocab"]:
        with torch.no_grad():
            return self._direct_path().push(layer, head, output, stream, hidden)

    def _direct_path(self) -> DirectPath:
        if self._path is None:
            self._path = prove(self.model, self.anatomy, lambda one: self._run_head(one[None, None]))
        return self._path

    def _run_head(self, hidden: Float[Tensor, "1 1 d_model"]) -> Float[Tensor, "vocab"]:
        return output_logits(self.model, self.anatomy.trunk, hidden)[0, 0]
