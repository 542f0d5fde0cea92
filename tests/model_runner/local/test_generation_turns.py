"""Generation on the model's thread: what is refused, who waits for whom, and what is freed."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from model_runner import memory
from model_runner.errors import (
    BrokenLogits,
    Cancelled,
    EmptyText,
    NoLogits,
    NoSuchPlace,
    OutOfMemory,
    TextExceedsMemory,
    WrongModel,
)
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.transforms import Sampling
from tests.model_runner.local.test_generation_runs import TEXT, WARM, ids, make
from tests.model_runner.tiny import VOCAB

SOON = 20.0  # seconds after which a test that waits in vain gives up


@pytest.fixture
def runner() -> Iterator[LocalRunner]:
    runner = make()
    yield runner
    runner.worker.close()


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_, error",
    [
        (GenerateRequest(" "), EmptyText),
        (GenerateRequest("a", model="other"), WrongModel),
        (GenerateRequest("a", continuation=(VOCAB,)), NoSuchPlace),
        (GenerateRequest("a", continuation=(-1,)), NoSuchPlace),
    ],
)
def test_a_request_that_cannot_be_met_is_refused_and_nothing_is_lost(
    request_: GenerateRequest, error: type[Exception], runner: LocalRunner
) -> None:
    with pytest.raises(error):
        list(runner.generate(request_))
    assert len(list(runner.generate(GenerateRequest(TEXT, max_new_tokens=2)))) == 2


def test_a_token_id_outside_the_vocabulary_is_named(runner: LocalRunner) -> None:
    with pytest.raises(NoSuchPlace, match=f"There is no token id 999: this model and text have {VOCAB}"):
        runner.capture(CaptureRequest("a", continuation=(999,)))


@pytest.mark.parametrize("sampling", [Sampling(temperature=0.0), Sampling()], ids=["greedy", "sampled"])
@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_model_whose_logits_are_not_numbers_draws_nothing(sampling: Sampling, value: float) -> None:
    runner = make()
    runner.engine.model.lm_head.weight.data[7] = value
    with pytest.raises(BrokenLogits):
        next(runner.generate(GenerateRequest(TEXT, sampling=sampling)))


def test_a_model_without_an_output_layer_generates_nothing() -> None:
    with pytest.raises(NoLogits):
        next(make(has_head=False).generate(GenerateRequest(TEXT)))


def test_a_length_that_does_not_fit_into_memory_is_refused_before_anything_runs(
    runner: LocalRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    enough_for = 2 * 100 * runner.engine.structure.bytes_per_token
    monkeypatch.setattr(memory, "available", lambda _: int(enough_for))
    assert len(list(runner.generate(GenerateRequest(TEXT, max_new_tokens=50)))) == 50
    with pytest.raises(TextExceedsMemory, match="is 114 tokens long, but about 100 fit"):
        next(runner.generate(GenerateRequest(TEXT, max_new_tokens=100)))


def test_memory_that_runs_out_in_a_step_is_a_sentence(runner: LocalRunner) -> None:
    steps = runner.generate(GenerateRequest(TEXT))
    next(steps)

    def fail(*_: object) -> None:
        raise MemoryError

    hook = runner.engine.structure.layers[1].register_forward_pre_hook(fail)
    with pytest.raises(OutOfMemory, match="The memory ran out while reading 16 tokens"):
        next(steps)
    hook.remove()
    assert next(runner.generate(GenerateRequest(TEXT))).index == 0


# -- who waits for whom -----------------------------------------------------------------------------------------------


def test_nothing_runs_that_nobody_asks_for(runner: LocalRunner) -> None:
    forwards: list[int] = []
    runner.engine.structure.layers[0].register_forward_pre_hook(lambda *_: forwards.append(1))
    steps = runner.generate(GenerateRequest(TEXT, max_new_tokens=50))
    runner.worker.submit(lambda _: None).result()
    assert forwards == []
    next(steps)
    runner.worker.submit(lambda _: None).result()
    asked = len(forwards)
    time.sleep(0.05)
    assert len(forwards) == asked
    next(steps)
    assert len(forwards) == asked + 1


def test_others_get_their_turn_between_two_steps(runner: LocalRunner) -> None:
    steps = runner.generate(GenerateRequest(TEXT, max_new_tokens=50), session="a")
    next(steps)
    assert runner.submit(CaptureRequest("another text"), session="b").result().verify(0).ok
    assert next(steps).index == 1


def test_two_generations_at_once_do_not_mix(runner: LocalRunner) -> None:
    requests = [
        GenerateRequest(text, max_new_tokens=10, sampling=WARM) for text in (TEXT, "and yet it moves, they say")
    ]
    alone = [list(make().generate(request)) for request in requests]
    one, two = (runner.generate(request) for request in requests)
    together = list(zip(one, two, strict=True))
    for number, expected in enumerate(alone):
        mine = [pair[number] for pair in together]
        assert ids(mine) == ids(expected)
        capture, its = mine[-1].capture, expected[-1].capture
        assert torch.equal(capture.k(2), its.k(2))
        assert torch.equal(capture.hidden, its.hidden)


def test_earlier_steps_stay_what_they_were(runner: LocalRunner) -> None:
    steps = runner.generate(GenerateRequest(TEXT, max_new_tokens=10, sampling=WARM))
    first = next(steps)
    before = first.capture
    kept = before.k(1).clone(), before.residual(2).clone(), before.tokens, before.text
    later = list(steps)
    assert torch.equal(before.k(1), kept[0])
    assert torch.equal(before.residual(2), kept[1])
    assert (before.tokens, before.text) == kept[2:]
    assert len(later[-1].capture.tokens) == len(before.tokens) + 9


def test_closing_it_gives_everything_back(runner: LocalRunner) -> None:
    steps = runner.generate(GenerateRequest(TEXT, max_new_tokens=50))
    step = next(steps)
    held = weakref.ref(step.capture.k(0).untyped_storage())
    rows = weakref.ref(step.capture.records[0])
    steps.close()  # type: ignore[attr-defined]  # a generator is an iterator that can be closed
    del step
    deadline = time.monotonic() + SOON  # a thread of its own tells the model that the run has ended
    while (rows() is not None or held() is not None) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert rows() is None
    assert held() is None
    assert list(steps) == []
    assert runner.capture(CaptureRequest("next")).verify(0).ok


def _stop_at_layer_one(runner: LocalRunner) -> tuple[threading.Event, threading.Event]:
    """The next forward stands still before layer 1 until told to go on."""
    reached, go = threading.Event(), threading.Event()

    def hook(*_: object) -> None:
        if not reached.is_set():
            reached.set()
            assert go.wait(SOON)

    runner.engine.structure.layers[1].register_forward_pre_hook(hook)
    return reached, go


def _in_thread(work: Callable[[], object]) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except Cancelled as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


@pytest.mark.parametrize("session", ["me", "you"])
def test_a_newer_request_cancels_the_step_under_way_of_its_own_session_alone(runner: LocalRunner, session: str) -> None:
    steps = runner.generate(GenerateRequest(TEXT, max_new_tokens=50), session="me")
    next(steps)
    reached, go = _stop_at_layer_one(runner)
    thread, found = _in_thread(lambda: next(steps))
    assert reached.wait(SOON)
    newer = runner.submit(CaptureRequest("newer"), session=session)
    go.set()
    assert newer.result().request.text == "newer"
    thread.join(SOON)
    if session == "me":
        assert isinstance(found[0], Cancelled)
        assert list(steps) == []
    else:
        assert found[0].index == 1


def test_the_model_is_its_own_again_after_each_step_and_each_failure(runner: LocalRunner) -> None:
    def changes() -> int:
        modules = list(runner.engine.model.modules())
        hooks = sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in modules)
        return hooks + sum("forward" in vars(module) for module in modules)

    steps = runner.generate(GenerateRequest(TEXT, max_new_tokens=5))
    next(steps)
    assert changes() == 0
    hook = runner.engine.structure.layers[1].register_forward_pre_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        next(steps)
    hook.remove()
    assert changes() == 0


def test_a_runner_that_was_given_up_ends_its_generations(runner: LocalRunner) -> None:
    steps = runner.generate(GenerateRequest(TEXT, max_new_tokens=5))
    next(steps)
    runner.worker.close()
    with pytest.raises(Cancelled):
        next(steps)
