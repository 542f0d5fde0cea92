"""Every question, answer and capture can be serialized and is unchanged afterwards."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
import torch
from safetensors.torch import save
from torch import Tensor

from attention.patterns import PATTERNS
from model_runner import CaptureRequest, GenerateRequest, Sampling
from model_runner.block_questions import (
    AddedByPart,
    ConvolvedFeedForward,
    EmbeddingRow,
    FeedForwardSums,
    FeedForwardUnits,
    LogitLens,
    StreamAdditions,
    TrainingStep,
    WhatItIsMadeOf,
)
from model_runner.capture import Capture
from model_runner.edits import (
    ChosenKeys,
    Masked,
)
from model_runner.errors import AwayFromModel, EditInvalid, NoWeights, Reason, RunnerError, Unreadable
from model_runner.expert_questions import ExpertRouting, RandomRouting
from model_runner.local.runner import LocalRunner
from model_runner.matrix_edit import SingularValues
from model_runner.positions import layout_of
from model_runner.projection_questions import HeadProjections, LayerMatrices
from model_runner.question import DirectLogits, HeadWrites, Logits, Question
from model_runner.questions import (
    Beams,
    CacheLayers,
    EndRun,
    LearnedPositions,
    MeanStream,
    NextLogits,
    NextRaceStep,
    NextToken,
    PatchFfn,
    PatchHeads,
    PatchStream,
    WhichHeads,
)
from model_runner.token_questions import Surprisals, TopLogits, VerifyLayer
from model_runner.wire import CLASSES, FORMAT, from_bytes, to_bytes
from tests.model_runner.cases import TEXT, shared_runner
from tests.model_runner.every_edit import EVERY_EDIT
from tests.model_runner.families import FAMILIES, often

D_MODEL, D_VALUE = 32, 8


def runner(name: str = "llama") -> LocalRunner:
    return shared_runner(name)


def same(mine: Any, its: Any) -> bool:
    """Whether these say the same, number by number; no number is the same as no number."""
    if is_dataclass(mine) and not isinstance(mine, Capture):  # a capture is asked what it says
        fields_ = [field.name for field in fields(mine)]
        return type(mine) is type(its) and all(same(getattr(mine, one), getattr(its, one)) for one in fields_)
    if isinstance(mine, (tuple, list)) and isinstance(its, (tuple, list)):
        return len(mine) == len(its) and all(map(same, mine, its))
    if not isinstance(mine, Tensor):
        return mine == its
    return mine.shape == its.shape and torch.allclose(mine, its, rtol=0, atol=0, equal_nan=True)


def answered(ask: Callable[[], Any]) -> Any:
    """The answer, or the words of the refusal."""
    try:
        return ask()
    except RunnerError as error:
        return type(error), str(error)


def everything(capture: Capture) -> list[Any]:
    """What can be asked of a capture, refusals included."""
    found: list[Any] = [capture.request, capture.tokens, capture.text, capture.kinds, capture.n_heads]
    last = len(capture.tokens) - 1
    for layer in range(capture.n_layers):
        asks: list[Callable[[], Any]] = [
            functools.partial(ask, layer)
            for ask in (
                capture.layer_kind, capture.has_weights, capture.q, capture.k, capture.v, capture.q_unrotated,
                capture.k_unrotated, capture.lse, capture.verify, capture.residual,
                lambda layer: capture.record(layer).head_output_edited,
                lambda layer: torch.stack([capture.weights(layer, head) for head in range(len(capture.q(layer)))]),
                lambda layer: capture.scores(layer, 1, queries=slice(3, 9), keys=slice(2, 20)),
                lambda layer: capture.layer_weights(layer, slice(5, 8)),
                lambda layer: layout_of(capture, layer).theta,
                lambda layer: capture.direct_logits(layer, 1, last),
            )
        ]  # fmt: skip
        found += map(answered, asks)
    found += [capture.residual(-1), capture.hidden]
    return [
        *found,
        *(answered(functools.partial(capture.logits, at)) for at in (0, last)),
        answered(capture.surprisals),
    ]


@pytest.mark.table
@pytest.mark.parametrize("name", often(family.name for family in FAMILIES))
def test_a_capture_says_the_same_after_bytes(name: str) -> None:
    own = runner(name).capture(CaptureRequest(TEXT))
    back = from_bytes(to_bytes(own), asked=runner(name))
    for mine, its in zip(everything(back), everything(own), strict=True):
        assert same(mine, its)


def test_a_capture_away_from_its_model_tells_the_logits_that_came_with_it() -> None:
    own = runner().capture(CaptureRequest(TEXT + " away"))
    known = own.logits(-1)
    back = from_bytes(to_bytes(own))
    assert torch.equal(back.logits(-1), known)
    assert torch.equal(back.weights(2, 1), own.weights(2, 1))
    for ask in (lambda: back.logits(0), lambda: back.direct_logits(0, 0, 0)):
        with pytest.raises(AwayFromModel, match="loaded without it"):
            ask()


MASKED = tuple(Masked(pattern.name, layers=(0, 1), heads=(0, 2)) for pattern in PATTERNS)


@pytest.mark.table
@pytest.mark.parametrize("edit", [*EVERY_EDIT, *MASKED], ids=repr)
def test_an_edited_capture_says_the_same_after_bytes(edit: Any) -> None:
    holder = runner("deepseek-v3.2" if isinstance(edit, ChosenKeys) else "llama")
    own = holder.capture(CaptureRequest(TEXT, edits=(edit,)))
    for mine, its in zip(everything(from_bytes(to_bytes(own), asked=holder)), everything(own), strict=True):
        assert same(mine, its)


@pytest.mark.parametrize("name", ["llama", "mistral", "gemma3", "deepseek-v3", "gpt2"])
def test_a_step_and_its_capture_say_the_same_after_bytes(name: str) -> None:
    sampling = Sampling(temperature=0.7, top_k=5, seed=3)
    *_, step = runner(name).generate(GenerateRequest(TEXT, max_new_tokens=3, sampling=sampling))
    back = from_bytes(to_bytes(step), asked=runner(name))
    for mine, its in zip(everything(back.capture), everything(step.capture), strict=True):
        assert same(mine, its)
    for field in ("index", "position", "token", "sampling", "seconds", "stop", "probability", "rank"):
        assert getattr(back, field) == getattr(step, field)
    assert torch.equal(back.logits, step.logits)
    assert torch.equal(back.stages[-1].probabilities, step.stages[-1].probabilities)


def questions() -> list[Question[Any]]:
    """One of each kind at least."""
    text, other, more = CaptureRequest(TEXT), CaptureRequest(TEXT.replace("dog", "cat")), GenerateRequest(TEXT, 4)
    noise = [torch.randn(size, generator=torch.Generator().manual_seed(size)) for size in (D_MODEL, D_VALUE)]
    capture = runner().capture(text)
    output, stream, hidden = capture.record(1).head_output_edited[-1, 2], capture.residual(-1)[-1], capture.hidden[-1]
    return [
        Logits(torch.stack([noise[0], -noise[0]])),
        DirectLogits(1, 2, output, stream, hidden), HeadWrites(1, capture.record(1).head_output_edited[-1]),
        Beams(more, 2), WhichHeads(text, 1, 101), PatchStream(text, other, 1, (101, 32)),
        PatchHeads(text, other, 1, 2, (101, 32)), PatchHeads(text, other, 1, None, (101, 32)),
        PatchFfn(text, other, 1, (101, 32)), MeanStream(text, 1, 101), CacheLayers(text),
        NextLogits(text), LearnedPositions(), NextToken(more, "a run", 0), NextRaceStep(more, "another", 0),
        EndRun("a run"), EndRun("another"), LogitLens(text, 3),
        StreamAdditions(text, 2), AddedByPart(text, 1, "ffn"), WhatItIsMadeOf(),
        EmbeddingRow(text, 101, 3), FeedForwardSums(text, 1, 2),
        FeedForwardUnits(text, 1, 2), TrainingStep(text, (0.1,)), ExpertRouting(text), RandomRouting((1, 2), 8),
        FeedForwardUnits(text, 1, 2), ConvolvedFeedForward(text, 1, (0.1, 0.2, 0.7)),
        TrainingStep(text, (0.1,)), ExpertRouting(text), RandomRouting((1, 2), 8),
        HeadProjections(text, 1, 2, (0, 3)), LayerMatrices(text, 1),
        VerifyLayer(text, 1), Surprisals(text), TopLogits(text, -1, 5),
        SingularValues(1, "mlp.down_proj"),
    ]  # fmt: skip


def test_every_kind_of_question_is_among_these() -> None:
    assert {type(question) for question in questions()} == set(Question.__subclasses__())
    assert set(Question.__subclasses__()) <= set(CLASSES)


@pytest.mark.parametrize("kind", sorted(kind.__name__ for kind in Question.__subclasses__()))
def test_a_question_asked_after_bytes_has_the_same_answer_after_bytes(kind: str) -> None:
    asked = runner("mixtral" if kind == "ExpertRouting" else "llama")
    for question in (one for one in questions() if type(one).__name__ == kind):
        written = to_bytes(question)
        assert to_bytes(from_bytes(written)) == written
        own, its = (asked.submit(one).result() for one in (question, from_bytes(written)))
        back = from_bytes(to_bytes(own), asked=asked)
        assert to_bytes(back) == to_bytes(own)
        if isinstance(question, (NextToken, NextRaceStep)):  # their seconds are their own
            own, its = (getattr(one, "token", getattr(one, "cached", None)) for one in (back, its))
        assert same(own, its)
        assert same(back, own) or isinstance(question, (NextToken, NextRaceStep))


def test_a_refusal_says_the_same_after_bytes() -> None:
    for error in (
        NoWeights(layer=2, kind="mamba"), EditInvalid(what="window", value=0, least=1),
        Unreadable(), AwayFromModel(), RunnerError(reason=Reason("{n} bytes", {"n": 3})),
    ):  # fmt: skip
        back = from_bytes(to_bytes(error))
        assert type(back) is type(error)
        assert str(back) == str(error)


def test_what_is_none_of_ours_is_not_written() -> None:
    for value in (len, object(), {1, 2}, runner()):
        with pytest.raises(TypeError, match="cannot be written down"):
            to_bytes(value)


def written(value: Any, form: str = FORMAT) -> bytes:
    return save({}, metadata={form: json.dumps(value)})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x08",
        b"\x80\x04." * 9,
        (2**63).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"{}",
        save({"x": torch.zeros(2)}),
        written(1, "attention atlas 0"),
        written({"class": "Popen", "fields": {"args": "true"}}),
        written({"class": "Token", "fields": {"id": 1}}),
        written({"class": "Token", "fields": 3}),
        written({"error": "SystemExit", "values": {"map": []}}),
        written({"tensor": "7"}),
        written({"call": "len"}),
        save({}, metadata={FORMAT: "[" * 100_000}),
    ],
)
def test_bytes_that_hold_none_of_ours_are_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="hold no capture, question or answer"):
        from_bytes(data)


def test_bytes_that_were_cut_are_refused() -> None:
    whole = to_bytes(runner().capture(CaptureRequest(TEXT)))
    for length in (7, 100, len(whole) // 2, len(whole) - 1):
        with pytest.raises(Unreadable):
            from_bytes(whole[:length])


def test_an_impossible_value_is_refused_in_its_own_words() -> None:
    with pytest.raises(EditInvalid, match="The window is 0; it must be at least 1"):
        from_bytes(written({"class": "KeepLast", "fields": {"window": 0}}))
