"""Whether a model's weights are still those that a capture was made of."""

from __future__ import annotations

import threading
from typing import TypeVar
from weakref import ref

from torch import Tensor, nn

from model_runner.errors import WeightsChanged
from model_runner.job import Job
from model_runner.local.fingerprint import weights_fingerprint
from model_runner.question import Answerer, Question

A = TypeVar("A")


class WeightsState:
    """Counts how often a model's weights were seen to have changed; with ``buffers``, these too.

    A forward may change the buffers of its own model: a rotation that stretches with the text is in one.

    Told by where each tensor lies and by torch's own count of writes in place, which a write through ``tensor.data``
    does not move. A look costs about half a microsecond a tensor. Safe to use from several threads.
    """

    def __init__(self, model: nn.Module, *, buffers: bool) -> None:
        modules = list(model.modules())
        self._tensors = [held for one in modules for held in tensors_in(one, buffers=buffers) if held]
        self._children: list[dict[str, nn.Module]] = [held for one in modules if (held := vars(one)["_modules"])]
        self._lock = threading.Lock()
        self._seen, self._parts = self._tensors_now(), self._parts_now()
        self._count = 0
        self._model = ref(model)
        self._fingerprint = (-1, "")  # and the count at which it was taken

    def count(self) -> int:
        """Of changes seen so far."""
        with self._lock:
            now = self._tensors_now()
            if now != self._seen:
                self._seen = now
                self._count += 1
            return self._count

    def fingerprint(self) -> str:
        """Of the weights as they are now (:mod:`model_runner.local.fingerprint`); "" when the model is gone."""
        count, model = self.count(), self._model()
        if self._fingerprint[0] != count and model is not None:
            self._fingerprint = count, weights_fingerprint(model)
        return self._fingerprint[1]

    def same_parts(self) -> bool:
        """Whether the model has the same modules as when this was made."""
        return self._parts_now() == self._parts

    def _tensors_now(self) -> list[tuple[int, int, int]]:
        every = (tensor for held in self._tensors for tensor in held.values() if tensor is not None)
        return [(id(tensor), *state_of(tensor)) for tensor in every]

    def _parts_now(self) -> list[int]:
        return [id(part) for parts in self._children for part in parts.values()]


class AnswererOfThen:
    """Answers for a capture as long as the weights are those that it was made of."""

    def __init__(self, answerer: Answerer, weights: WeightsState) -> None:
        self._answerer, self._weights, self._count = answerer, weights, weights.count()

    def submit(self, question: Question[A], *, session: str | None = None) -> Job[A]:
        """As any :class:`model_runner.question.Answerer`. Raises WeightsChanged."""
        if self._weights.count() != self._count:
            raise WeightsChanged()
        return self._answerer.submit(question, session=session)


def tensors_in(module: nn.Module, *, buffers: bool = True) -> list[dict[str, Tensor | None]]:
    """The very dicts in which torch keeps a module's own parameters, and buffers."""
    return [vars(module)[name] for name in (("_parameters", "_buffers") if buffers else ("_parameters",))]


def state_of(tensor: Tensor) -> tuple[int, int]:
    """Where it lies, and how often it was written in place; torch does not count that of inference tensors."""
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version
