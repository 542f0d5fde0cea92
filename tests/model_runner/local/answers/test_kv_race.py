"""The race: both lanes give transformers' own greedy continuation, one from a cache, one from the whole text."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
import torch

from model_runner import CaptureRequest, GenerateRequest, load_runner
from model_runner.errors import BrokenLogits, Cancelled, CannotContinue, ContextFull, EmptyText, NoLogits
from model_runner.growing import new_run
from model_runner.local.answers.kv_race import forward
from model_runner.local.runner import LocalRunner
from model_runner.questions import NextLogits, NextRaceStep
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.tiny import MAX_TOKENS, byte_tokenizer, tiny

STEPS = 12
IDS = byte_tokenizer()(TEXT).input_ids
CAUSAL = ["llama", "mistral", "gemma2", "gemma3", "qwen3", "gpt2", "gpt-oss", "deepseek-v3", "phi3", "qwen3-next"]


def race(runner: LocalRunner, n_steps: int = STEPS, text: str = TEXT):
    return list(runner.race(GenerateRequest(text, max_new_tokens=n_steps)))


@pytest.mark.parametrize("name", CAUSAL)
def test_both_lanes_give_the_tokens_of_transformers_generate(name):
    steps = race(runner_of(FAMILY[name]))
    model = FAMILY[name].build()
    ids = torch.tensor([IDS])
    with torch.no_grad():
        expected = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=STEPS, min_new_tokens=STEPS, do_sample=False,
            eos_token_id=None, pad_token_id=0,
        )  # fmt: skip
    assert [step.cached.id for step in steps] == expected[0, len(IDS) :].tolist()
    assert [step.uncached.id for step in steps] == expected[0, len(IDS) :].tolist()
    assert [step.position for step in steps] == list(range(len(IDS), len(IDS) + STEPS))


@pytest.mark.parametrize("name", CAUSAL)
def test_the_cached_lane_sees_one_token_a_step_and_the_other_all_of_them(name, monkeypatch):
    seen: list[tuple[bool, int]] = []

    def spied(model, ids, cache):
        seen.append((cache is not None, len(ids)))
        return forward(model, ids, cache)

    monkeypatch.setattr("model_runner.local.answers.kv_race.forward", spied)
    race(runner_of(FAMILY[name]), 4)
    n = len(IDS)
    assert [count for cached, count in seen if cached] == [n, 1, 1, 1]
    assert [count for cached, count in seen if not cached] == [n, n + 1, n + 2, n + 3]


def test_the_times_are_of_this_race_and_positive():
    began = time.perf_counter()
    steps = race(load_runner("default"), 5, "The dog chased")
    spent = time.perf_counter() - began
    assert all(step.cached_seconds > 0 and step.uncached_seconds > 0 for step in steps)
    assert sum(step.cached_seconds + step.uncached_seconds for step in steps) < spent


def test_an_end_of_text_token_is_told_and_the_race_goes_on():
    steps = race(load_runner("default"), 30, "The dog chased the squirrel because it")
    ends = [index for index, step in enumerate(steps) if step.is_end]
    assert ends, "the embedded model ends this text within 30 tokens"
    assert ends[0] < len(steps) - 1
    assert steps[ends[0]].cached.special


def test_the_race_ends_where_the_context_ends():
    steps = race(runner_of(FAMILY["llama"]), 10, "a" * (MAX_TOKENS - 3))
    assert [step.position for step in steps] == [MAX_TOKENS - 3, MAX_TOKENS - 2, MAX_TOKENS - 1]


def test_a_text_that_fills_the_context_is_refused():
    with pytest.raises(ContextFull, match=f"{MAX_TOKENS} tokens long and fills"):
        race(runner_of(FAMILY["llama"]), 1, "a" * MAX_TOKENS)


@pytest.mark.parametrize("text", ["", "  "])
def test_no_text_is_refused(text):
    with pytest.raises(EmptyText):
        race(runner_of(FAMILY["llama"]), 1, text)


@pytest.mark.parametrize("name", ["bert", "distilbert"])
def test_an_encoder_is_refused_with_the_reason(name):
    with pytest.raises(CannotContinue, match="was not made to predict the next token"):
        race(runner_of(FAMILY[name]), 1)


def test_a_model_without_an_output_layer_is_refused():
    runner = LocalRunner(tiny("llama")(), byte_tokenizer(), name="llama", has_head=False)
    with pytest.raises(NoLogits):
        race(runner, 1)
    with pytest.raises(NoLogits):
        runner.submit(NextLogits(CaptureRequest(TEXT))).result()


@pytest.mark.parametrize("broken", [torch.nan, torch.inf])
def test_logits_that_are_not_numbers_are_refused(broken):
    model = tiny("llama")()
    runner = LocalRunner(model, byte_tokenizer(), name="llama")
    with torch.no_grad():
        model.get_output_embeddings().weight[5] = broken
    with pytest.raises(BrokenLogits):
        race(runner, 1)


def test_the_continuation_of_the_request_is_part_of_the_text():
    runner = runner_of(FAMILY["llama"])
    whole = race(runner, 4)
    first, *rest = whole
    later = list(runner.race(GenerateRequest(TEXT, max_new_tokens=3, continuation=(first.cached.id,))))
    assert [step.cached.id for step in later] == [step.cached.id for step in rest]


def test_a_step_that_is_cancelled_frees_the_worker_before_its_forward_ends():
    runner = runner_of(FAMILY["llama"])
    calls: list[int] = []
    request, run = GenerateRequest(TEXT, max_new_tokens=3), new_run()
    layers = runner.engine.structure.layers
    assert runner.submit(NextRaceStep(request, run, 0)).result() is not None

    def first_layer(*_: object) -> None:
        calls.append(0)
        waiting.job.cancel()

    waiting = SimpleNamespace(job=None)
    hook = layers[0].register_forward_pre_hook(first_layer)
    last = layers[-1].register_forward_pre_hook(lambda *_: calls.append(1))
    try:
        runner.worker.submit(lambda _: time.sleep(0.2))  # the job cannot begin before it has its name here
        waiting.job = runner.submit(NextRaceStep(request, run, 1))
        with pytest.raises(Cancelled):
            waiting.job.result()
    finally:
        hook.remove()
        last.remove()
    assert 1 not in calls
    with pytest.raises(Cancelled):
        runner.submit(NextRaceStep(request, run, 2)).result()  # the race has ended
    assert len(race(runner, 2)) == 2


def test_two_races_pulled_in_turns_do_not_mix():
    runner = runner_of(FAMILY["llama"])
    alone = [[step.cached.id for step in race(runner, 5, text)] for text in ("one text", "another text")]
    both = [iter(runner.race(GenerateRequest(text, max_new_tokens=5))) for text in ("one text", "another text")]
    mixed: list[list[int]] = [[], []]
    for _ in range(5):
        for found, steps in zip(mixed, both, strict=True):
            found.append(next(steps).cached.id)
    assert mixed == alone
