"""A cancelled job: nothing of the model runs 100 ms later, whatever the request and however far it had got."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from model_runner import CaptureRequest, GenerateRequest
from model_runner.block_questions import FeedForwardUnits, LogitLens, StreamAdditions, TrainingStep, WhatItIsMadeOf
from model_runner.edits import ScaledHead
from model_runner.errors import Cancelled
from model_runner.expert_questions import ExpertRouting
from model_runner.local.runner import LocalRunner
from model_runner.question import DirectLogits, HeadWrites
from model_runner.questions import (
    Beams,
    CacheLayers,
    LearnedPositions,
    NextLogits,
    NextRaceStep,
    NextToken,
    PatchHeads,
    PatchStream,
    WhichHeads,
)
from model_runner.rotation_edit import ScaledTheta
from tests.model_runner.cases import TEXT
from tests.model_runner.families import LINEAR, SMALL_EXPERTS
from tests.model_runner.tiny import D_HEAD, D_MODEL, byte_tokenizer, tiny

LAYERS = 8
SLOW = 0.04  # seconds that every layer takes beside its own work: a forward takes three times what may pass
MAY_PASS = 0.1
OTHER = TEXT.replace("dog", "cat")
TOKENS = (101, 32)
VECTORS = (torch.ones(D_HEAD), torch.ones(D_MODEL), torch.ones(D_MODEL))

ONE_FORWARD: dict[str, Any] = {
    "a capture": CaptureRequest(TEXT),
    "a capture with edits": CaptureRequest(TEXT, edits=(ScaledHead(1, 1),)),
    "logits after a text": NextLogits(CaptureRequest(TEXT)),
    "direct logits": DirectLogits(0, 0, *VECTORS),
    "what heads write": HeadWrites(0, torch.ones(1, D_HEAD)),
    "what it is made of": WhatItIsMadeOf(),
    "learned positions": LearnedPositions(),
    "whom tokens are sent to": ExpertRouting(CaptureRequest(TEXT)),
}
MORE: dict[str, Any] = {
    "a capture with an edited rotation": CaptureRequest(TEXT, edits=(ScaledTheta(0.5),)),
    "a token": NextToken(GenerateRequest(TEXT), "run", 0),
    "a step of a race": NextRaceStep(GenerateRequest(TEXT), "run", 0),
    "beams": Beams(GenerateRequest(TEXT), 2),
    "which heads matter": WhichHeads(CaptureRequest(TEXT), 1, 101),
    "a patched stream": PatchStream(CaptureRequest(TEXT), CaptureRequest(OTHER), 1, TOKENS),
    "patched heads": PatchHeads(CaptureRequest(TEXT), CaptureRequest(OTHER), 1, 2, TOKENS),
    "a training step": TrainingStep(CaptureRequest(TEXT), (0.1,)),
    "units of a layer": FeedForwardUnits(CaptureRequest(TEXT), 1, 2),
    "what is added to the stream": StreamAdditions(CaptureRequest(TEXT), 2),
    "the logit lens": LogitLens(CaptureRequest(TEXT)),
    "layers of a cache": CacheLayers(CaptureRequest(TEXT)),
}


def llama() -> LocalRunner:
    return LocalRunner(tiny("llama", num_hidden_layers=LAYERS)(), byte_tokenizer(), name="llama", device="cpu")


def mostly_linear() -> LocalRunner:
    """A model of which only the last layer has softmax attention."""
    kinds = ["linear_attention"] * (LAYERS - 1) + ["full_attention"]
    sizes: dict[str, Any] = {**LINEAR, **SMALL_EXPERTS, "layer_types": kinds, "num_hidden_layers": LAYERS}
    return LocalRunner(tiny("qwen3_next", head_dim=8, **sizes)(), byte_tokenizer(), name="hybrid", device="cpu")


@contextmanager
def slowly(runner: LocalRunner) -> Generator[list[float]]:
    """When each layer began while every one of them takes its time."""
    begun: list[float] = []

    def begin(*_: object) -> None:
        begun.append(time.monotonic())
        time.sleep(SLOW)

    hooks = [layer.register_forward_pre_hook(begin) for layer in runner.engine.structure.layers]
    try:
        yield begun
    finally:
        for hook in hooks:
            hook.remove()


def late(runner: LocalRunner, question: Any, n_layers: int, cancel: Callable[[Any], None]) -> int:
    """Layers that begin later than may pass after a job is cancelled in its ``n_layers``-th layer."""
    with slowly(runner) as begun:
        job = runner.submit(question, session="me")
        while len(begun) < n_layers:
            assert not job.wait(0.001), "it ended before it could be cancelled"
        cancel(job)
        at = time.monotonic()
        with pytest.raises(Cancelled):
            job.result()
        time.sleep(3 * MAY_PASS)
        return sum(one > at + MAY_PASS for one in begun)


@pytest.mark.parametrize("question", [*ONE_FORWARD.values(), *MORE.values()], ids=[*ONE_FORWARD, *MORE])
def test_nothing_runs_after_the_session_is_cancelled_in_a_first_forward(question: Any) -> None:
    runner = llama()
    assert late(runner, question, 2, lambda _: runner.cancel("me")) == 0


@pytest.mark.table
@pytest.mark.parametrize("question", MORE.values(), ids=MORE)
def test_nothing_runs_after_the_job_is_cancelled_in_a_second_forward(question: Any) -> None:
    assert late(llama(), question, LAYERS + 3, lambda job: job.cancel()) == 0


def test_layers_without_attention_ask_too() -> None:
    runner = mostly_linear()
    assert late(runner, CaptureRequest(TEXT), 2, lambda _: runner.cancel("me")) == 0


def test_a_text_that_grows_is_let_go_with_its_session_and_others_are_not() -> None:
    runner = llama()
    mine, other = (runner.generate(GenerateRequest(TEXT, 9), session=session) for session in ("me", "you"))
    next(mine)
    next(other)
    runner.cancel("me")
    with pytest.raises(Cancelled):
        next(mine)
    assert next(other).index == 1


def test_cancelling_a_session_that_asked_nothing_does_nothing() -> None:
    runner = llama()
    runner.cancel("nobody")
    assert runner.capture(CaptureRequest(TEXT)).verify(0).ok
