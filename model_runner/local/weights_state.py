"""Detects whether a model's weights are still those that a capture was made with."""

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
    """Counts the observed changes of a model's weights and, with ``buffers``, of its buffers. Thread-safe.

    A forward may change the buffers of its own model: a rotation that stretches with the text is in one. A change is
    detected by the tensor's address and by torch's count of in-place writes, which a write through ``tensor.data`` does
    not increment. A check takes about half a microsecond per tensor.
    """

    def __init__(self, model: nn.Module, *, buffers: bool) -> None:
        modules = list(model.modules())
        self._tensors = [held for one in modules for held in tensors_in(one, buffers=buffers) if held]
        self._children: list[dict[str, nn.Module]] = [held for one in modules if (held := vars(one)["_modules"])]
        self._lock = threading.Lock()
        self._seen, self._parts = self._tensors_now(), self._parts_now()
        self._count = 0
        self._model = ref(model)
        self._fingerprint = (-1, "")  # with the count at which it was taken

    def count(self) -> int:
        """The number of changes seen so far."""
        with self._lock:
            now = self._tensors_now()
            if now != self._seen:
                self._seen = now
                self._count += 1
            return self._count

    def fingerprint(self) -> str:
        """The fingerprint of the current weights (:mod:`model_runner.local.fingerprint`); "" when the model is gone."""
        count, model = self.count(), self._model()
        if self._fingerprint[0] != count and model is not None:
            self._fingerprint = count, weights_fingerprint(model)
        return self._fingerprint[1]

    def same_parts(self) -> bool:
        """Whether the model still has the same modules."""
        return self._parts_now() == self._parts

    def _tensors_now(self) -> list[tuple[int, int, int]]:
        every = (tensor for held in self._tensors for tensor in held.values() if tensor is not None)
        return [(id(tensor), *state_of(tensor)) for tensor in every]

    def _parts_now(self) -> list[int]:
        return [id(part) for parts in self._children for part in parts.values()]


class AnswererOfThen:
    """Answers questions about a capture as long as the weights are those it was made with."""

    def __init__(self, answerer: Answerer, weights: WeightsState) -> None:
        self._answerer, self._weights, self._count = answerer, weights, weights.count()

    def submit(self, question: Question[A], *, session: str | None = None) -> Job[A]:
        """Like any :class:`model_runner.question.Answerer`. Raises WeightsChanged."""
        if self._weights.count() != self._count:
            raise WeightsChanged()
        return self._answerer.submit(question, session=session)


def tensors_in(module: nn.Module, *, buffers: bool = True) -> list[dict[str, Tensor | None]]:
    """The dicts in which torch keeps a module's own parameters, and buffers."""
    return [vars(module)[name] for name in (("_parameters", "_buffers") if buffers else ("_parameters",))]


def state_of(tensor: Tensor) -> tuple[int, int]:
    """The address, and the count of in-place writes, which torch does not keep for inference tensors."""
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version
