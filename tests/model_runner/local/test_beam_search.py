"""Beam search: equal to transformers' own, and to an independent slow search, at every step."""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass

import pytest
import torch

from model_runner.local.beam_search import search_beams
from model_runner.local.runner import LocalRunner
from model_runner.request import GenerateRequest
from tests.model_runner.families import often
from tests.model_runner.searched import FAMILY, TEXT, TOKENS, likely_ends, plain, prompt, runner, search
from tests.model_runner.tiny import EOS, byte_tokenizer

PADDED = EOS + 1
SEARCHED = ("llama", "mistral", "gemma2", "gpt2", "gpt-oss")  # full, windowed, soft-capped, learned positions, sinks


# -- against transformers -------------------------------------------------------------------------------------------


def generated(name: str, *, width: int, limit: int, ends: tuple[int, ...]) -> tuple[list[list[int]], list[float]]:
    """Sequences after the prompt, ended where they end, and scores, from the untouched model's own generate()."""
    ids = torch.tensor([prompt()])
    output = plain(name).generate(
        ids,
        attention_mask=torch.ones_like(ids),
        num_beams=width,
        num_return_sequences=width,
        do_sample=False,
        max_new_tokens=limit,
        eos_token_id=list(ends),
        pad_token_id=PADDED,
        return_dict_in_generate=True,
        output_scores=True,
    )
    lengths = (output.beam_indices >= 0).sum(-1).tolist()  # the rest of a row is padding
    rows = output.sequences[:, ids.shape[1] :].tolist()
    return [row[:length] for row, length in zip(rows, lengths, strict=True)], output.sequences_scores.tolist()


@pytest.mark.table
@pytest.mark.parametrize("name", often(FAMILY))
def test_the_ranking_is_that_of_transformers_in_every_family(name: str) -> None:
    ends = likely_ends(name)
    found = search(name, ends=ends)
    sequences, scores = generated(name, width=3, limit=TOKENS, ends=ends)
    assert [list(final.beam.ids) for final in found.ranking] == sequences
    # The untouched model runs the same sdpa (or eager) kernels: about 1e-6 of rounding on a mean of log-probabilities.
    assert [final.score for final in found.ranking] == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("width", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_every_width_gives_so_many_beams_and_the_scores_of_transformers(name: str, width: int) -> None:
    found = search(name, width=width)
    sequences, scores = generated(name, width=width, limit=TOKENS, ends=(EOS,))
    assert len(found.ranking) == width
    assert [list(final.beam.ids) for final in found.ranking] == sequences
    assert [final.score for final in found.ranking] == pytest.approx(scores, abs=1e-5)


def test_scores_are_those_of_the_same_generate_call_to_the_last_bit() -> None:
    held = runner("llama")
    ids = torch.tensor([prompt()])
    output = held.engine.model.generate(
        ids, attention_mask=torch.ones_like(ids), num_beams=3, num_return_sequences=3, do_sample=False,
        max_new_tokens=TOKENS, eos_token_id=EOS, pad_token_id=PADDED, return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip
    assert [final.score for final in search("llama").ranking] == output.sequences_scores.tolist()


@pytest.mark.parametrize("width", [2, 3, 5])
def test_candidates_whose_scores_are_the_same_are_those_that_transformers_takes(width: int) -> None:
    model = plain("llama")
    own = model.lm_head.weight.detach().clone()
    with torch.no_grad():  # eight tokens share every logit: ties at every step, also between beams
        model.lm_head.weight.copy_(own[torch.arange(len(own)) // 8])
    held = LocalRunner(copy.deepcopy(model), byte_tokenizer(), name="tied", device="cpu")
    try:
        request = GenerateRequest(text=TEXT, max_new_tokens=TOKENS)
        found = search_beams(held.engine.model, prompt(), request, width=width, limit=TOKENS, ends=(EOS,))
        sequences, scores = generated("llama", width=width, limit=TOKENS, ends=(EOS,))
    finally:
        with torch.no_grad():
            model.lm_head.weight.copy_(own)
    assert [list(final.beam.ids) for final in found.ranking] == sequences
    assert [final.score for final in found.ranking] == pytest.approx(scores, abs=1e-5)
    totals = [beam.log_prob for beam in found.steps[0].beams]
    assert len(set(totals)) < len(totals)
    for step, following in itertools.pairwise(found.steps):  # each beam continues one that is shown as going on
        assert {beam.ids[:-1] for beam in following.beams} <= {beam.ids for beam in step.beams}


# -- against a slow search ------------------------------------------------------------------------------------------


@dataclass
class Slow:
    """What a search by plain loops found; sums in float64, ids only."""

    running: list[list[tuple[int, ...]]]
    finished: list[list[tuple[int, ...]]]
    ranking: list[tuple[float, tuple[int, ...]]]
    margin: float  # the smallest gap between two candidates of which one was taken before the other


def slow_search(name: str, *, width: int, limit: int, ends: tuple[int, ...]) -> Slow:
    """Beam search as transformers documents it: a full forward for every beam at every step, no cache, float64 sums."""
    model = plain(name)
    running: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    pool: list[tuple[float, tuple[int, ...]]] = []
    slow = Slow([], [], [], float("inf"))
    for length in range(1, limit + 1):
        candidates: list[tuple[float, tuple[int, ...]]] = []
        for total, ids in running:
            with torch.no_grad():
                logits = model(torch.tensor([prompt() + list(ids)]), use_cache=False).logits[0, -1].double()
            log_probs = torch.log_softmax(logits, -1).tolist()
            candidates += [(total + value, (*ids, token)) for token, value in enumerate(log_probs)]
        candidates.sort(reverse=True)
        candidates = candidates[: (1 + len(ends)) * width + 1]
        totals = [total for total, _ in candidates]
        slow.margin = min(slow.margin, *(a - b for a, b in itertools.pairwise(totals)))
        stops = [ids[-1] in ends or length == limit for _, ids in candidates]
        done = [i for i in range(width) if stops[i]]
        pool = sorted(pool + [(candidates[i][0] / length, candidates[i][1]) for i in done], reverse=True)[:width]
        running = [candidate for candidate, stop in zip(candidates, stops, strict=True) if not stop][:width]
        slow.finished.append([candidates[i][1] for i in done])
        slow.running.append([ids for _, ids in running])
        if not running or (len(pool) == width and running[0][0] / length <= pool[-1][0]):
            break
    slow.ranking = pool
    return slow


@pytest.mark.parametrize("ending", [False, True], ids=["to the limit", "with ends on the way"])
@pytest.mark.parametrize("name", SEARCHED)
def test_every_step_is_that_of_a_slow_search_without_a_cache(name: str, ending: bool) -> None:
    ends = likely_ends(name) if ending else (EOS,)
    found, slow = search(name, ends=ends), slow_search(name, width=3, limit=TOKENS, ends=ends)
    assert slow.margin > 1e-5  # no tie that rounding could decide: else this test would compare nothing
    assert [[beam.ids for beam in step.beams] for step in found.steps] == slow.running
    assert [[final.beam.ids for final in step.finished] for step in found.steps] == slow.finished
    assert [final.beam.ids for final in found.ranking] == [ids for _, ids in slow.ranking]
    assert [final.score for final in found.ranking] == pytest.approx([score for score, _ in slow.ranking], abs=1e-4)


@pytest.mark.parametrize("name", SEARCHED)
def test_log_probabilities_are_those_of_one_full_forward_over_each_beam(name: str) -> None:
    for final in search(name, ends=likely_ends(name)).ranking:
        ids = prompt() + list(final.beam.ids)
        with torch.no_grad():
            log_probs = plain(name)(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        own = [log_probs[i - 1, ids[i]].item() for i in range(len(prompt()), len(ids))]
        assert final.beam.log_probs == pytest.approx(own, abs=1e-4)
        assert final.beam.log_prob == pytest.approx(sum(own), abs=1e-4)


# -- what a search tells --------------------------------------------------------------------------------------------


def test_a_beam_goes_on_finishes_or_is_dropped_and_never_two_of_these() -> None:
    found = search("llama", ends=likely_ends("llama"))
    before = {()}
    for step in found.steps:
        parents = {beam.ids[:-1] for beam in (*step.beams, *(final.beam for final in step.finished))}
        dropped = {beam.ids for beam in step.dropped}
        assert parents | dropped == before
        assert not parents & dropped
        before = {beam.ids for beam in step.beams}


def test_something_is_dropped_and_something_ends_on_the_way() -> None:
    steps = search("llama", ends=likely_ends("llama")).steps
    assert any(step.dropped for step in steps)
    assert any(final.stop == "end" for step in steps[:-1] for final in step.finished)


def test_a_search_without_an_end_of_text_stops_at_the_limit() -> None:
    found = search("llama", limit=3, ends=())
    assert [final.stop for final in found.ranking] == ["limit"] * 3
    assert {len(final.beam.ids) for final in found.ranking} == {3}


def test_the_models_own_generation_settings_are_left_out_and_left_alone() -> None:
    held = runner("llama")
    expected = search("llama")
    own = held.engine.model.generation_config
    changed = copy.deepcopy(own)
    changed.update(repetition_penalty=5.0, num_return_sequences=1, no_repeat_ngram_size=2)
    held.engine.model.generation_config = changed
    try:
        assert search("llama") == expected
        assert held.engine.model.generation_config is changed
    finally:
        held.engine.model.generation_config = own


def test_a_prompt_that_holds_the_filling_token_is_read_whole() -> None:
    held = runner("llama")
    request = GenerateRequest(text="")

    def first(ids: list[int]) -> float:
        found = search_beams(held.engine.model, ids, request, width=2, limit=1, ends=())
        return found.ranking[0].score

    with torch.no_grad():
        logits = plain("llama")(torch.tensor([[0, 5, 0, 9]])).logits[0, -1]
    assert first([0, 5, 0, 9]) == pytest.approx(logits.log_softmax(-1).max().item(), abs=1e-5)
