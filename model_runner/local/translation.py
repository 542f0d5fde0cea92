"""Generates the decoder's text for a source, one token per step."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from model_runner.capture import Capture
from model_runner.local.encoder_input import EncoderInput
from model_runner.local.generation import end_tokens, next_token
from model_runner.local.recording.forward_edit import ForwardEdit
from model_runner.local.tokenizing import Writer
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.step import Step


@runtime_checkable
class Decodes(Protocol):
    """The part of an encoder–decoder's engine that a translation needs."""

    model: Any

    def logits(self, hidden: Any) -> Tensor: ...
    def read(
        self, request: CaptureRequest, source: EncoderInput, written: Writer, edit: ForwardEdit | None
    ) -> Capture: ...


@dataclass(eq=False)
class Translation:
    """A decoder's text under way, with a forward over all of it for each token."""

    engine: Decodes
    request: GenerateRequest
    source: EncoderInput
    writer: Writer
    capacity: int
    edit: ForwardEdit | None
    index: int = 0
    seconds: float = 0.0
    capture: Capture | None = field(default=None)

    def step(self) -> Step:
        """Sample the next token and run everything written so far. Raises BrokenLogits."""
        began = time.perf_counter()
        if self.capture is None:
            self.capture = self._read()
            self.seconds = time.perf_counter() - began
            began = time.perf_counter()
        position = len(self.writer.tokens)
        logits = self.engine.logits(self.capture.hidden[None, -1:])[0, 0]
        ids = [token.id for token in self.writer.tokens]
        token = self.writer.append(next_token(logits, self.request.sampling, ids))
        self.capture = self._read()
        ends = token.id in end_tokens(self.engine.model)
        step = Step(
            index=self.index,
            position=position,
            token=token,
            logits=logits,
            sampling=self.request.sampling,
            seconds=time.perf_counter() - began,
            prefill_seconds=self.seconds,
            stop="end" if ends else "" if position + 1 < self.capacity else "limit",
            capture=self.capture,
        )
        self.index += 1
        return step

    def _read(self) -> Capture:
        written = self.writer.continuation(len(self.writer.tokens))
        request = self.request.so_far(written, target="", attention=None)
        return self.engine.read(request, self.source, self.writer, self.edit)
