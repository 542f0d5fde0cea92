"""A generation as an iterator: what is drawn, and when it ends."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import thread as pools
from typing import Any

import pytest
import torch

from model_runner.errors import ContextFull, SequenceTooLong
from model_runner.local.generation import end_tokens
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.sampling import draw, stages, uniforms
from model_runner.step import Step
from model_runner.transforms import Sampling
from tests.model_runner.tiny import EOS, MAX_TOKENS, VOCAB, byte_tokenizer, tiny

BUILD = tiny("llama", num_key_value_heads=2)
TEXT = "the dog chased"
WARM = Sampling(temperature=1.3, top_p=0.95, repetition_penalty=1.2, seed=5)


@pytest.fixture
def runner() -> Iterator[LocalRunner]:
    runner = make()
    yield runner
    runner.worker.close()


def make(**options: Any) -> LocalRunner:
    runner = LocalRunner(BUILD(), byte_tokenizer(), name="tiny", device="cpu", **options)
    runner.engine.model.generation_config.eos_token_id = None
    return runner


def ids(steps: list[Step]) -> list[int]:
    return [step.token.id for step in steps]


# -- what is drawn ----------------------------------------------------------------------------------------------------


def test_steps_count_from_0_and_their_tokens_follow_the_text(runner: LocalRunner) -> None:
    steps = list(runner.generate(GenerateRequest(TEXT, max_new_tokens=4)))
    assert [step.index for step in steps] == [0, 1, 2, 3]
    assert [step.position for step in steps] == [len(TEXT) + i for i in range(4)]
    assert [step.stop for step in steps] == ["", "", "", "limit"]
    assert all(step.seconds > 0 and step.prefill_seconds == steps[0].prefill_seconds > 0 for step in steps)
    assert steps[-1].capture.request == CaptureRequest(
        TEXT, model="tiny", dtype="float32", continuation=tuple(ids(steps))
    )


def test_a_token_is_drawn_from_the_last_stage_by_the_number_of_its_position(runner: LocalRunner) -> None:
    steps = list(runner.generate(GenerateRequest(TEXT, max_new_tokens=30, sampling=WARM)))
    tokens = [token.id for token in steps[-1].capture.tokens]
    for step in steps:
        before = tokens[: step.position]
        expected = stages(step.logits, WARM, before)
        assert [stage.name for stage in step.stages] == [stage.name for stage in expected]
        assert torch.equal(step.stages[-1].probabilities, expected[-1].probabilities)
        assert step.token.id == draw(expected[-1].probabilities, uniforms(WARM.seed, step.position, 1)[0])
    assert len(set(ids(steps))) > 5  # the penalty and the temperature leave something to draw


def test_greedy_with_a_penalty_takes_the_largest_score_after_it(runner: LocalRunner) -> None:
    sampling = Sampling(temperature=0.0, repetition_penalty=3.0)
    steps = list(runner.generate(GenerateRequest(TEXT, max_new_tokens=12, sampling=sampling)))
    batch = torch.tensor([byte_tokenizer()(TEXT).input_ids])
    plain = BUILD()
    plain.generation_config.eos_token_id = None
    made = plain.generate(
        batch,
        attention_mask=torch.ones_like(batch),
        do_sample=False,
        max_new_tokens=12,
        repetition_penalty=3.0,
    )
    assert ids(steps) == made[0, batch.shape[1] :].tolist()
    assert ids(steps) != ids(list(runner.generate(GenerateRequest(TEXT, max_new_tokens=12))))


def test_probability_and_rank_are_those_of_the_model_before_any_transform(runner: LocalRunner) -> None:
    for step in runner.generate(GenerateRequest(TEXT, max_new_tokens=10, sampling=WARM)):
        exact = step.logits.double().exp()
        assert step.probability == pytest.approx(float(exact[step.token.id] / exact.sum()), rel=1e-5)
        assert step.rank == 1 + sum(logit > step.logits[step.token.id] for logit in step.logits.tolist())


def test_the_same_seed_draws_the_same_text_and_another_one_does_not(runner: LocalRunner) -> None:
    one, two, other = (
        ids(list(runner.generate(GenerateRequest(TEXT, max_new_tokens=20, sampling=Sampling(seed=seed)))))
        for seed in (1, 1, 2)
    )
    assert one == two != other


@pytest.mark.table
@pytest.mark.long
def test_another_process_draws_the_same_text(runner: LocalRunner) -> None:
    here = ids(list(runner.generate(GenerateRequest(TEXT, max_new_tokens=15, sampling=WARM))))
    program = (
        "from tests.model_runner.local.test_generation_runs import *\n"
        "print(ids(list(make().generate(GenerateRequest(TEXT, max_new_tokens=15, sampling=WARM)))))"
    )
    there = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert there.stdout.splitlines()[-1] == str(here)


def test_a_forced_beginning_is_followed_as_if_it_had_been_drawn(runner: LocalRunner) -> None:
    request = GenerateRequest(TEXT, max_new_tokens=10, sampling=WARM)
    steps = list(runner.generate(request))
    forced = tuple(ids(steps[:4]))
    branch = list(runner.generate(GenerateRequest(TEXT, max_new_tokens=6, sampling=WARM, continuation=forced)))
    assert ids(branch) == ids(steps[4:])
    assert [step.position for step in branch] == [step.position for step in steps[4:]]
    assert branch[-1].capture.tokens == steps[-1].capture.tokens
    assert branch[-1].capture.request == steps[-1].capture.request
    elsewhere = GenerateRequest(TEXT, max_new_tokens=6, sampling=WARM, continuation=(*forced[:3], 65))
    assert ids(list(runner.generate(elsewhere))) != ids(steps[4:])


# -- when it ends -----------------------------------------------------------------------------------------------------


def test_it_stops_after_an_end_of_text_token_and_keeps_it(runner: LocalRunner) -> None:
    free = ids(list(runner.generate(GenerateRequest(TEXT, max_new_tokens=8, sampling=WARM))))
    for ends in (free[3], [VOCAB - 1, free[3]]):
        runner.engine.model.generation_config.eos_token_id = ends
        steps = list(runner.generate(GenerateRequest(TEXT, max_new_tokens=8, sampling=WARM)))
        stop = free.index(free[3]) + 1
        assert ids(steps) == free[:stop]
        assert [step.stop for step in steps] == [""] * (stop - 1) + ["end"]
        assert steps[-1].capture.tokens[-1].id == free[3]


@pytest.mark.parametrize("eos, ends", [(None, set()), (3, {3}), ([3, 5], {3, 5})])
def test_end_tokens_are_the_models_own(eos: Any, ends: set[int], runner: LocalRunner) -> None:
    runner.engine.model.generation_config.eos_token_id = eos
    assert end_tokens(runner.engine.model) == ends
    assert end_tokens(BUILD()) == {EOS}


def test_no_token_is_asked_for_and_none_comes(runner: LocalRunner) -> None:
    for count in (0, -3):
        assert list(runner.generate(GenerateRequest(TEXT, max_new_tokens=count))) == []


def test_the_last_position_of_the_model_is_the_limit(runner: LocalRunner) -> None:
    steps = list(runner.generate(GenerateRequest("x" * (MAX_TOKENS - 3), max_new_tokens=50)))
    assert [step.stop for step in steps] == ["", "", "limit"]
    assert len(steps[-1].capture.tokens) == MAX_TOKENS
    assert steps[-1].capture.verify(0).ok


def test_a_text_that_fills_the_context_cannot_go_on_and_says_so(runner: LocalRunner) -> None:
    with pytest.raises(ContextFull, match=f"The text is {MAX_TOKENS} tokens long and fills the {MAX_TOKENS} positions"):
        next(runner.generate(GenerateRequest("x" * MAX_TOKENS)))
    with pytest.raises(ContextFull):
        next(runner.generate(GenerateRequest("x" * (MAX_TOKENS - 2), continuation=(65, 66))))
    assert runner.capture(CaptureRequest("x" * MAX_TOKENS)).verify(0).ok


def test_text_and_continuation_together_may_be_too_long(runner: LocalRunner) -> None:
    for ask in (
        lambda: next(runner.generate(GenerateRequest("x" * (MAX_TOKENS - 1), continuation=(65, 66)))),
        lambda: runner.capture(CaptureRequest("x" * (MAX_TOKENS - 1), continuation=(65, 66))),
    ):
        with pytest.raises(SequenceTooLong, match=f"{MAX_TOKENS + 1} tokens long, but {MAX_TOKENS} fit") as raised:
            ask()
        assert raised.value.values["characters"] == MAX_TOKENS - 2
    with pytest.raises(SequenceTooLong) as raised:
        runner.capture(CaptureRequest("x", continuation=(65,) * MAX_TOKENS))
    assert raised.value.values["characters"] == 0


def test_one_that_is_dropped_while_a_question_is_being_queued_hangs_nobody(runner: LocalRunner) -> None:
    generation = runner.generate(GenerateRequest(TEXT, 5))
    next(generation)
    held = [generation]
    del generation

    def drop() -> None:
        with pools._global_shutdown_lock:  # as it is held, of all pools, while one takes a question
            held.clear()

    dropping = threading.Thread(target=drop, daemon=True)
    dropping.start()
    dropping.join(10)
    assert not dropping.is_alive()
    assert len(list(runner.generate(GenerateRequest(TEXT, 3)))) == 3
    deadline = time.monotonic() + 10
    while runner._answers._runs:  # the one that was dropped is let go, too, soon
        assert time.monotonic() < deadline
