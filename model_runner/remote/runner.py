"""A runner whose model is on a server: every question is an HTTP request, and tensors are fetched when needed.

Captures arrive as outlines (:func:`model_runner.wire.outline`), steps as their new rows. A capture is a function of its
request, so any server with the model has its parts or can recompute them. So is a growing text, in which each token is
a function of the previous ones and the seed: if its server has ended, another continues it.
"""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, overload
from urllib.parse import quote

from jaxtyping import Float
from torch import Tensor

from model_runner import growing
from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture
from model_runner.errors import Cancelled, RunnerAway
from model_runner.head_matrices import MatricesOfHeads
from model_runner.kv import RaceStep
from model_runner.lazy_tensor import Fetch, LazyTensor
from model_runner.question import Question
from model_runner.questions import EndRun, NextRaceStep, NextToken
from model_runner.remote.job import RemoteJob
from model_runner.remote.server_link import ServerLink
from model_runner.remote.step_rows import GrowingSteps
from model_runner.request import (
    CaptureRequest,
    GenerateRequest,
    capture_request,
    generate_request,
    requests_in,
)
from model_runner.resolve_request import resolved_question
from model_runner.runner import ModelInfo
from model_runner.step import Step
from model_runner.token_questions import TopLogits, VerifyLayer
from model_runner.wire import from_bytes, to_bytes

A = TypeVar("A")

CACHE_BYTES = 1 << 30
TEXTS = 4096  # tokens of the vocabulary that are requested at a time
MOST_IDS = 4096  # texts whose ids are cached
SMALL = VerifyLayer | TopLogits
ANSWER_BYTES = 500  # approximate size of one of these
AGAIN = 3  # how often a question is retried that the server gave up because its model was evicted or its run was lost


@dataclass(eq=False)
class _Run:
    """A text growing on the server under the name ``at``, which started there after ``since`` of its tokens."""

    session: str | None
    at: str
    since: int = 0
    drawn: list[int] = field(default_factory=list[int])
    steps: GrowingSteps = field(default_factory=GrowingSteps)


class RemoteRunner(MatricesOfHeads):
    """Answers questions about one model of a server.

    ``base_only``: for a model with an adapter, use the one without.
    """

    def __init__(
        self,
        link: ServerLink,
        name: str,
        about: dict[str, Any],
        *,
        kept: ByteBudgetCache | None = None,
        base_only: bool = False,
    ) -> None:
        """``about`` is the server's description of the model; ``kept`` is the cache of captures, None: one of a
        gigabyte.
        """
        self.link = link
        self.info: ModelInfo = about["base_info" if base_only else "info"]
        self.has_chat_template: bool = about["chat"]
        self.allow: Callable[[object], None] = lambda _question: None
        self._path, self._base = f"/v1/models/{quote(name, safe='/')}", "base=1" if base_only else "base=0"
        self._kept = kept or ByteBudgetCache(CACHE_BYTES)
        self._lock = threading.Lock()
        self._latest: weakref.WeakValueDictionary[str, RemoteJob[Any]] = weakref.WeakValueDictionary()
        self._runs: dict[str, _Run] = {}
        self._texts: dict[int, tuple[str, ...]] = {}
        self._ids: dict[str, tuple[int, ...]] = {}
        self._adapted: weakref.ref[RemoteRunner] | None = None
        self.base: RemoteRunner | None = None
        if not base_only and about["base_info"] is not None:
            self.base = RemoteRunner(link, name, about, kept=self._kept, base_only=True)
            self.base._adapted = weakref.ref(self)

    def __repr__(self) -> str:
        info = self.info
        sizes = f"{info.n_layers} layers, {info.n_heads} heads"
        return f"<Runner: {info.name} ({info.family}), {sizes}, {info.dtype} on {info.device} at {self.link.url}>"

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the weights, as its captures report it."""
        return self.info.weights

    @property
    def adapted(self) -> RemoteRunner | None:
        """For a base, the runner of the model with the adapter's changes."""
        return None if self._adapted is None else self._adapted()

    @overload
    def submit(self, question: CaptureRequest, *, session: str | None = None) -> RemoteJob[Capture]: ...
    @overload
    def submit(self, question: Question[A], *, session: str | None = None) -> RemoteJob[A]: ...
    def submit(self, question: Any, *, session: str | None = None) -> RemoteJob[Any]:
        """Submit a question without waiting; it cancels the session's previous one. Raises WrongModel immediately."""
        self.allow(question)
        question = resolved_question(question, self.info)
        job: RemoteJob[Any] = RemoteJob()
        if session is not None:
            with self._lock:
                older = self._latest.get(session)
                self._latest[session] = job
            if older is not None:
                older.cancel()
        if isinstance(question, CaptureRequest | SMALL) and (kept := self._kept.get(self, question)) is not None:
            job.end(kept)
            return job
        self.link.start(job, lambda: self._answer(job, question, session))
        return job

    def cancel(self, session: str) -> None:
        """Cancel everything of this session: its job ends before the next layer, and its growing texts are released."""
        with self._lock:
            older = self._latest.pop(session, None)
            own = [run for run, held in self._runs.items() if held.session == session]
        if older is not None:
            older.cancel()
        for run in own:
            self.submit(EndRun(run))

    def capture(self, request: CaptureRequest | str) -> Capture:
        """The outline of the capture of this request or text. Raises RunnerError."""
        return self.submit(capture_request(request)).result()

    def generate(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[Step]:
        """Generate one token per ``next``, see :func:`model_runner.growing.generate`. Raises WrongModel immediately."""
        return growing.generate(self, resolved_question(generate_request(request), self.info), session)

    def race(self, request: GenerateRequest, *, session: str | None = None) -> Iterator[RaceStep]:
        """Generate greedily with and without a KV cache, see :func:`model_runner.growing.race`."""
        return growing.race(self, resolved_question(generate_request(request), self.info), session)

    def token_text(self, token_id: int) -> str:
        """The display text of a token of the vocabulary."""
        block = token_id // TEXTS
        if block not in self._texts:
            self._texts[block] = self.link.value("GET", f"{self._path}/texts?{self._base}&start={block * TEXTS}")
        return self._texts[block][token_id % TEXTS]

    def ids_of(self, text: str) -> tuple[int, ...]:
        """The token ids of a piece of text alone, without special tokens."""
        if text not in self._ids:
            found = self.link.value("POST", f"{self._path}/ids?{self._base}", to_bytes(text))
            with self._lock:
                while len(self._ids) >= MOST_IDS:
                    del self._ids[next(iter(self._ids))]
                self._ids[text] = found
        return self._ids[text]

    def grid(self, request: CaptureRequest) -> dict[str, Any]:
        """Thumbnails and metrics of every head, computed on the server; see :mod:`analysis.head_grid`."""
        return self._made_there("grid", request)

    def opening(self, request: CaptureRequest) -> tuple[int, int]:
        """The layer and head with which a page opens, found on the server; see :mod:`analysis.opening`."""
        layer, head = self._made_there("opening", request)
        return layer, head

    def tile(self, request: CaptureRequest, layer: int, head: int, zoom: int, x: int, y: int) -> bytes:
        """One tile of a head's map, computed on the server; see :mod:`analysis.long_map`."""
        return self._made_there("tile", request, layer, head, zoom, x, y)

    def far(
        self, request: CaptureRequest, layer: int, head: int, least: int, count: int
    ) -> Sequence[tuple[int, int, float]]:
        """The largest weights between distant tokens, found on the server; see :mod:`analysis.far_looks`."""
        return self._made_there("far", request, layer, head, least, count)

    def strongest(
        self, request: CaptureRequest, layer: int, head: int, query: int, key: int | None
    ) -> tuple[int, int, float] | None:
        """The key that a query attends to most, found on the server; see :mod:`analysis.strongest_key`."""
        return self._made_there("strongest", request, layer, head, query, *([] if key is None else [key]))

    def block(self, request: CaptureRequest, layer: int, start: int, stop: int) -> dict[str, Any]:
        """The rows from ``start`` to ``stop`` of all heads of a layer, computed on the server; see
        :mod:`analysis.long_blocks`.
        """
        return self._made_there("block", request, layer, start, stop)

    def cell(self, request: CaptureRequest, query: int, key: int) -> Float[Tensor, "layers heads"]:
        """The weight of one cell in every head, found on the server; see :mod:`analysis.cell_ranking`."""
        return self._made_there("cell", request, query, key)

    def close(self) -> None:
        """Release what is cached for this model."""
        self._kept.forget(self)

    # -- on a thread of the link ----------------------------------------------------------------------------------

    def _answer(self, job: RemoteJob[Any], question: Any, session: str | None) -> Any:
        match question:
            case CaptureRequest():
                return self._captured(job, question)
            case NextToken():
                return self._next_token(job, question, session)
            case NextRaceStep():  # its seconds are measured on one server, so another never continues it
                return from_bytes(self._ask(job, question, near=question.run), asked=self)
            case EndRun(run):
                with self._lock:
                    held = self._runs.pop(run, None)
                at = run if held is None else held.at
                return from_bytes(self._ask(job, EndRun(at), near=at))
            case _:
                requests = list(requests_in(question).values())
                near = _name(requests[0]) if requests else ""
                answer = from_bytes(self._again(job, lambda: self._ask(job, question, near=near)), asked=self)
                if isinstance(question, SMALL):  # a page asks for these at each of its runs
                    self._kept.put(self, question, answer, ANSWER_BYTES)
                return answer

    def _captured(self, job: RemoteJob[Any], request: CaptureRequest) -> Capture:
        written, near = to_bytes(request), _name(request)
        ask = f"{self._path}/ask?{self._base}&form=outline"
        data = self._again(job, lambda: self.link.call(job, "POST", ask, written, near=near))

        beside: dict[int, _Beside] = {}

        def fetch(number: int) -> Fetch:
            return lambda start, stop: self._part(written, near, number, start, stop, beside.get(number))

        capture = from_bytes(data, asked=self, fetch=fetch)
        beside |= _beside(capture)
        self._kept.put(self, request, capture, parts=[capture])
        return capture

    def _part(self, written: bytes, near: str, number: int, start: int, stop: int, beside: _Beside | None) -> Tensor:
        """Rows of one part, fetched together with those of a part that is computed with it."""
        path, job = f"{self._path}/part?{self._base}&rows={number}:{start}:{stop}", RemoteJob[Tensor]()
        other = None if beside is None or beside.tensor.rows.here else beside.rows(start, stop)
        if beside is not None and other is not None:
            path += f"&rows={beside.tensor.number}:{other[0]}:{other[1]}"
        found = from_bytes(self._again(job, lambda: self.link.call(job, "POST", path, written, near=near)))
        if beside is not None and other is not None:
            beside.tensor.rows.give(*other, found[1])
        return found[0]

    def _made_there(self, what: str, request: CaptureRequest, *at: int) -> Any:
        job, body, near = RemoteJob[Any](), to_bytes(request), _name(request)
        path = f"{self._path}/{what}?{self._base}" + "".join(f"&at={number}" for number in at)
        return from_bytes(self._again(job, lambda: self.link.call(job, "POST", path, body, near=near)))

    def _next_token(self, job: RemoteJob[Any], asked: NextToken, session: str | None) -> Step:
        """The next token; if its server lost the run, another server continues after the tokens received so far."""
        with self._lock:
            if asked.index == 0:
                self._runs[asked.run] = _Run(session, asked.run)
            held = self._runs.get(asked.run)
        if held is None or len(held.drawn) != asked.index:
            raise Cancelled()
        for _ in range(AGAIN):
            before = held.drawn[: held.since]
            request = replace(
                asked.request,
                max_new_tokens=asked.request.max_new_tokens - held.since,
                continuation=(*asked.request.continuation, *before),
            )
            index = asked.index - held.since
            if index:  # the server has read it: its large fields are not sent again
                request = replace(request, text="", sound=None, continuation=(), edits=(), input_ids=())
            try:
                question = NextToken(request, held.at, index)
                data = self._ask(
                    job, question, near=held.at, name=f"{asked.run} {asked.index}", more=f"&start={held.steps.count}"
                )
            except Cancelled:
                job.check()
                held.at, held.since = growing.new_run(), asked.index
                continue
            step = held.steps.step(from_bytes(data, asked=self))
            held.drawn.append(step.token.id)
            if step.stop:
                with self._lock:
                    self._runs.pop(asked.run, None)
            return replace(step, index=asked.index)
        raise RunnerAway(reason="the text that grows was lost again and again")

    def _ask(self, job: RemoteJob[Any], question: Any, *, near: str, name: str = "", more: str = "") -> bytes:
        return self.link.call(
            job, "POST", f"{self._path}/ask?{self._base}{more}", to_bytes(question), near=near, name=name
        )

    def _again(self, job: RemoteJob[Any], ask: Callable[[], bytes]) -> bytes:
        """The answer to an idempotent question, which is retried if the server gave it up."""
        for _ in range(AGAIN):
            try:
                return ask()
            except Cancelled:
                job.check()
        raise RunnerAway(reason="it gave the question up again and again")


@dataclass(frozen=True, eq=False)
class _Beside:
    """A part that is computed with another: ``group`` rows of that part belong to one row of this."""

    tensor: LazyTensor
    group: int

    def rows(self, start: int, stop: int) -> tuple[int, int]:
        return start // self.group, (stop - 1) // self.group + 1


def _beside(capture: Capture) -> dict[int, _Beside]:
    """For each part with queries, by number: the part with the keys that they attend to."""
    found: dict[int, _Beside] = {}
    for record in (record for one in (capture, *capture.others) for record in one.records if record is not None):
        if isinstance(record.q, LazyTensor) and isinstance(record.k, LazyTensor):
            found[record.q.number] = _Beside(record.k, record.group)
    return found


def _name(request: CaptureRequest | GenerateRequest) -> str:
    """A name that is equal for equal requests, in every process."""
    return hashlib.sha256(repr(request).encode("utf-8", "surrogatepass")).hexdigest()[:32]
