"""What the cache of keys and values saves and holds, tried on the model itself: a race, its bytes, and changed caches.

Each trial is a job on the model's thread, pulled one at a time, so that nobody waits longer than for one of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from model_runner.anatomy import Anatomy
from model_runner.errors import CannotContinue, ContextFull, NoLogits
from model_runner.generation import end_tokens, prove_continuation
from model_runner.kv_race import Lane, Race, RaceStep, checked, forward
from model_runner.layer_edit import Shape, forward_edit
from model_runner.reading import explained, write
from model_runner.recording import CannotRecord, Recording, active
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.row_cache import empty_cache
from model_runner.runner import ModelInfo
from model_runner.tokens import Writer
from model_runner.worker import Job, Worker


@dataclass(frozen=True)
class CachedLayer:
    """One layer of a cache after a text was read: the shapes of its tensors, and their bytes as they lie in memory.

    ``k_shape`` is (kv_heads, tokens, d_head), ``v_shape`` (kv_heads, tokens, d_value); None where the layer has no
    softmax attention. ``window`` is how far back the layer looks, the query itself included: its cache keeps one token
    less, since the next query brings its own. ``state_bytes`` is what else it holds, the same for every length.
    """

    layer: int
    k_shape: tuple[int, ...] | None
    v_shape: tuple[int, ...] | None
    n_bytes: int
    window: int | None
    state_bytes: int


@dataclass(frozen=True, eq=False)
class KvTrials:
    """The trials of one model."""

    model: Any
    tokenizer: PreTrainedTokenizerBase
    anatomy: Anatomy
    info: ModelInfo
    worker: Worker
    has_head: bool

    def race(self, request: GenerateRequest, *, session: str | None = None) -> RaceJobs:
        """The greedy continuation of the text with and without the cache; nothing runs before it is asked for."""
        return RaceJobs(self, request, session)

    def submit_layers(self, request: CaptureRequest, *, session: str | None = None) -> Job[tuple[CachedLayer, ...]]:
        """What transformers' own cache holds of each layer once it has read the text. Raises RunnerError."""
        return self.worker.submit(lambda job: self._layers(request, job), session)

    def submit_logits(self, request: CaptureRequest, *, session: str | None = None) -> Job[Float[Tensor, "vocab"]]:
        """The logits after the text, float32, and nothing else kept. Edits of the rotation are not for this."""
        return self.worker.submit(lambda job: self._logits(request, job), session)

    def line_up(self, request: GenerateRequest) -> Race:
        """Both lanes before the first step. Raises NoLogits, CannotContinue, ContextFull, and what ``write`` raises."""
        lanes = [Lane(self.model, self._read(request), cache) for cache in (empty_cache(self.model), None)]
        count, limit = len(lanes[0].writer.tokens), self.info.max_tokens
        if count >= limit:
            raise ContextFull(tokens=count, limit=limit)
        last = min(limit, count + request.max_new_tokens)
        return Race(self.info.name, lanes[0], lanes[1], end_tokens(self.model), last)

    @functools.cached_property
    def _proven(self) -> bool:
        prove_continuation(self.model, self.anatomy)
        return True

    def _read(self, request: CaptureRequest | GenerateRequest) -> Writer:
        if not self.has_head:
            raise NoLogits(name=self.info.name)
        writer = write(self.tokenizer, request, self.info)
        try:
            _ = self._proven
        except CannotRecord as error:
            raise CannotContinue(name=self.info.name, family=self.info.family, reason=error.reason) from error
        return writer

    def _layers(self, request: CaptureRequest, job: Job[tuple[CachedLayer, ...]]) -> tuple[CachedLayer, ...]:
        job.check()
        ids, cache = [token.id for token in self._read(request).tokens], empty_cache(self.model)
        with explained(self.info, len(ids)), checked(self.anatomy.layers, job.check):
            forward(self.model, ids, cache)
        return tuple(_cached_layer(number, layer) for number, layer in enumerate(cache.layers))

    def _logits(self, request: CaptureRequest, job: Job[Tensor]) -> Float[Tensor, "vocab"]:
        job.check()
        if not self.has_head:
            raise NoLogits(name=self.info.name)
        ids, anatomy = [token.id for token in write(self.tokenizer, request, self.info).tokens], self.anatomy
        shape = Shape(anatomy.attention, anatomy.kinds, anatomy.n_heads, anatomy.n_kv_heads)
        edit = forward_edit(request.edits, shape, ())
        recording = Recording(anatomy.names, keeps=False, check=job.check, edit=edit)
        with explained(self.info, len(ids)), active(recording):
            return forward(self.model, ids, None)


class RaceJobs:
    """A race, a job a step."""

    def __init__(self, trials: KvTrials, request: GenerateRequest, session: str | None) -> None:
        self._trials, self._request, self._session = trials, request, session
        self._race: Race | None = None

    def submit(self) -> Job[RaceStep | None]:
        """The next token of both lanes, without waiting; None when there is no room for it. Raises RunnerError.

        A job that is cancelled ends the race.
        """
        return self._trials.worker.submit(self._step, self._session)

    def __iter__(self) -> Iterator[RaceStep]:
        while (step := self.submit().result()) is not None:
            yield step

    def _step(self, job: Job[RaceStep | None]) -> RaceStep | None:
        job.check()
        trials = self._trials
        if self._race is None:
            self._race = trials.line_up(self._request)
        count = len(self._race.cached.writer.tokens)
        with explained(trials.info, count), checked(trials.anatomy.layers, job.check):
            return self._race.step()


def _cached_layer(number: int, layer: Any) -> CachedLayer:
    """What one of transformers' cache layers holds; 5.23 has one class for each kind."""
    keys, values = getattr(layer, "keys", None), getattr(layer, "values", None)
    states = [*_tensors(getattr(layer, "conv_states", None)), *_tensors(getattr(layer, "recurrent_states", None))]
    kept = [tensor for tensor in (keys, values) if tensor is not None]
    return CachedLayer(
        layer=number,
        k_shape=None if keys is None else tuple(keys.shape[1:]),
        v_shape=None if values is None else tuple(values.shape[1:]),
        n_bytes=sum(tensor.nbytes for tensor in kept),
        window=getattr(layer, "sliding_window", None),
        state_bytes=sum(tensor.nbytes for tensor in states),
    )


def _tensors(states: dict[int, Tensor | None] | None) -> list[Tensor]:
    return [state for state in (states or {}).values() if state is not None]
