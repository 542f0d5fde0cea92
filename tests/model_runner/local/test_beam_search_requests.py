"""Beam search through the runner: its requests, what is refused, and cancellation."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
import torch

from model_runner.edits import KeepLast
from model_runner.errors import BeamWidthInvalid, BrokenLogits, Cancelled, CannotContinue, ContextFull, EditNotPossible
from model_runner.local.beam_search import search_beams
from model_runner.local.cancellation import checked
from model_runner.local.runner import LocalRunner
from model_runner.questions import Beams
from model_runner.request import CaptureRequest, GenerateRequest
from tests.model_runner.cases import runner_of
from tests.model_runner.families import FAMILIES
from tests.model_runner.searched import FAMILY, TEXT, TOKENS, likely_ends, prompt, runner, search
from tests.model_runner.tiny import MAX_TOKENS, byte_tokenizer, tiny


def test_the_runner_searches_after_the_continuation_to_the_models_own_end_of_text() -> None:
    held = runner_of(FAMILY["llama"])
    expected = search("llama", ends=likely_ends("llama"))
    held.engine.model.generation_config.eos_token_id = list(likely_ends("llama"))
    forced = tuple(prompt()[-4:])
    request = GenerateRequest(text=TEXT[:-4], max_new_tokens=TOKENS, continuation=forced)
    found = held.submit(Beams(request, 3)).result()
    assert found.prompt == tuple(prompt())
    assert found.steps == expected.steps
    assert found.ranking == expected.ranking
    assert found.request == replace(request, model="llama", revision=None, dtype="float32")


# -- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [-1, 0, 1, 6])
def test_a_width_that_is_not_offered_is_refused_with_those_that_are(width: int) -> None:
    with pytest.raises(BeamWidthInvalid, match=rf"{width} beams wide is not offered; choose from 2 to 5"):
        runner("llama").submit(Beams(GenerateRequest(text=TEXT), width)).result()


def test_edits_are_refused_since_beams_would_not_show_them() -> None:
    with pytest.raises(EditNotPossible, match="beam search runs on the unmodified model only"):
        runner("llama").submit(Beams(GenerateRequest(text=TEXT, edits=(KeepLast(3),)), 2)).result()


def test_a_prompt_as_long_as_the_context_is_refused() -> None:
    request = GenerateRequest(text="x" * MAX_TOKENS)
    with pytest.raises(ContextFull, match=f"{MAX_TOKENS} tokens long and fills"):
        runner("llama").submit(Beams(request, 2)).result()


def test_beams_end_where_the_context_does() -> None:
    found = runner("llama").submit(Beams(GenerateRequest(text="x" * (MAX_TOKENS - 2), max_new_tokens=9), 2)).result()
    assert {len(final.beam.ids) for final in found.ranking} == {2}


@pytest.mark.parametrize("name", ["bert", "modernbert"])
def test_a_model_that_predicts_no_next_token_is_refused_with_the_reason(name: str) -> None:
    encoder = next(family for family in FAMILIES if family.name == name)
    with pytest.raises(CannotContinue, match="cannot continue a text: "):
        runner_of(encoder).submit(Beams(GenerateRequest(text=TEXT), 2)).result()


@pytest.mark.parametrize("limit", [0, -3])
def test_no_room_for_a_token_gives_no_beams(limit: int) -> None:
    found = runner("llama").submit(Beams(GenerateRequest(text=TEXT, max_new_tokens=limit), 2)).result()
    assert (found.steps, found.ranking) == ((), ())


def test_logits_that_are_not_numbers_are_refused() -> None:
    held = LocalRunner(tiny("llama")(), byte_tokenizer(), name="broken")
    held.engine.model.lm_head.weight.data[7] = torch.nan
    with pytest.raises(BrokenLogits):
        search_beams(
            held.engine.model, prompt(), GenerateRequest(text=TEXT),
            width=2, limit=3, ends=(),
        )  # fmt: skip


@pytest.mark.parametrize("calls", [1, 2, 5, 9])
def test_a_cancelled_search_stops_before_the_next_layer_and_leaves_the_model_as_it_was(calls: int) -> None:
    held = runner("llama")
    own, made = held.engine.model.generation_config, 0

    def check() -> None:
        nonlocal made
        made += 1
        if made >= calls:
            raise Cancelled()

    with pytest.raises(Cancelled), checked(check):
        search_beams(
            held.engine.model, prompt(), GenerateRequest(text=TEXT),
            width=3, limit=TOKENS, ends=(),
        )  # fmt: skip
    assert made == calls
    assert held.engine.model.generation_config is own
    assert not any(layer._forward_pre_hooks for layer in held.engine.structure.layers)


def test_a_newer_request_of_the_session_ends_the_search_and_the_runner_goes_on() -> None:
    held = runner_of(FAMILY["llama"])
    begun = threading.Event()
    handle = held.engine.model.register_forward_pre_hook(lambda *_: begun.set())
    job = held.submit(Beams(GenerateRequest(text=TEXT, max_new_tokens=450), 5), session="me")
    assert begun.wait(10)
    handle.remove()
    newer = held.submit(CaptureRequest(text=TEXT), session="me")
    with pytest.raises(Cancelled):
        job.result()
    assert len(newer.result().tokens) == len(prompt())
