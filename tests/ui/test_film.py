"""The film that a session stores: generated tokens are never lost, and the same settings give the same film."""

from __future__ import annotations

import functools
import time
from typing import Any

import pytest

from analysis.joined import as_square
from jobs import generation_tree as module
from jobs.generation_tree import GenerationTree
from model_runner import CaptureRequest, GenerateRequest, Runner, Sampling, load_runner

TEXT = "The dog chased the squirrel because it"
DRAWN = Sampling(seed=3, top_p=0.9)
N = 12


@functools.cache
def runner() -> Runner:
    return load_runner("default")


def new(sampling: Sampling = DRAWN, *, limit: int = N, text: str = TEXT, by: Any = None) -> GenerationTree:
    prompt = runner().capture(CaptureRequest(text))
    return GenerationTree(by or runner(), prompt, sampling, name="test", limit=limit)


def silent() -> None:
    """Nobody is told."""


def run(film: GenerationTree, count: int = N) -> GenerationTree:
    """Pull until so many tokens more are there."""
    target = min(len(film.take.ids) + count, film.room)
    while len(film.take.ids) < target and not film.stop:
        film.pull(target - len(film.take.ids), silent)
    return film


@functools.cache
def expected(sampling: Sampling = DRAWN, forced: tuple[int, ...] = (), count: int = N) -> tuple[int, ...]:
    """The ids by one call of the generator after the forced ones."""
    request = GenerateRequest(TEXT, count - len(forced), sampling, continuation=forced)
    return (*forced, *(step.token.id for step in runner().generate(request)))


def test_a_film_is_what_the_generator_gives():
    film = run(new())
    assert film.take.ids == expected()
    assert len(film.take.choices) == N + 1
    assert [one.how for one in film.take.choices] == ["prompt", *["sampled"] * N]
    assert film.stop == "limit"
    assert film.take.prefill[0] == film.n_prompt == 8


def test_nothing_is_generated_unless_somebody_pulls():
    film = new()
    time.sleep(0.1)
    assert film.take.ids == ()
    film.start(silent)
    assert len(film.take.ids) == 1
    film.start(silent)
    assert len(film.take.ids) == 1


def test_one_pull_ends_after_a_moment(monkeypatch):
    monkeypatch.setattr(module, "BUDGET", 0.0)
    film = new()
    film.pull(5, silent)
    assert len(film.take.ids) == 1
    monkeypatch.setattr(module, "BUDGET", 60.0)
    film.pull(5, silent)
    assert len(film.take.ids) == 6


def test_a_greedy_film_says_so_and_uses_no_random_number():
    film = run(new(Sampling(temperature=0.0)))
    assert {one.how for one in film.take.choices[1:]} == {"greedy"}
    assert {one.uniform for one in film.take.choices} == {None}
    assert {one.rank for one in film.take.choices[1:]} == {1}


def test_a_token_forced_in_the_middle_branches_and_the_first_way_stays():
    film = run(new())
    token = film.take.choices[5].candidates[2].id
    film.force(5, token)
    assert film.take.ids == expected()[:4]
    run(film)
    assert film.take.ids == expected(forced=(*expected()[:4], token))
    assert film.take.choices[5].how == "forced"
    assert [branch.ids for branch in film.branches()] == [expected(), film.take.ids]
    assert film.branches()[1].chosen[4] == "forced"
    assert sum(film.branches()[1].log_probs) == pytest.approx(sum(film.take.log_probabilities))


def test_a_forced_token_has_its_own_probability_in_the_model():
    film = run(new())
    before, token = film.take.choices[5], film.take.choices[5].candidates[2]
    film.force(5, token.id)
    film.pull(1, silent)
    assert film.take.choices[5].probability == pytest.approx(token.probability, rel=1e-4)
    assert film.take.choices[5].entropy == pytest.approx(before.entropy, rel=1e-4)
    assert len(film.capture(silent).tokens) == film.n_prompt + 5


def test_the_first_token_can_be_forced_and_one_after_the_last():
    film = run(new(), 3)
    film.force(4, 500)
    film.pull(1, silent)
    assert film.take.ids == (*expected()[:3], 500)
    film.force(1, 600)
    film.pull(1, silent)
    assert film.take.ids == (600,)


@pytest.mark.parametrize("frame", [0, 5, 99])
def test_a_frame_that_is_not_there_cannot_be_forced(frame):
    film = run(new(), 3)
    film.force(frame, 500)
    assert film.take.ids == expected()[:3]


def test_forcing_the_token_that_is_there_changes_nothing():
    film = run(new(), 3)
    name = film.name
    film.force(2, film.take.ids[1])
    assert (film.name, len(film.takes)) == (name, 1)


def test_other_settings_begin_at_the_prompt_and_the_earlier_ones_come_back_whole():
    film = run(new())
    film.change(Sampling(temperature=0.0))
    assert film.take.ids == ()
    run(film, 3)
    film.change(DRAWN)
    assert film.take.ids == expected()
    assert len(film.branches()) == 2


def test_settings_that_were_only_tried_leave_no_empty_way():
    film = run(new())
    for temperature in (0.3, 0.4, 0.5):
        film.change(Sampling(temperature=temperature))
        film.start(silent)
    assert len(film.takes) == 2
    film.change(DRAWN)
    assert [take.ids for take in film.takes] == [expected()]


def test_a_way_opened_again_goes_on_where_it_was():
    film = run(new(), 4)
    film.change(Sampling(temperature=0.0))
    run(film, 2)
    film.change(DRAWN)
    assert run(film, 99).take.ids == expected()


def test_a_way_that_is_opened_again_reads_its_text_once_more_with_the_same_result():
    film = run(new())
    whole = film.capture(silent).weights(3, 7)
    film.change(Sampling(temperature=0.0))
    film.change(DRAWN)
    again = film.capture(silent).weights(3, 7)
    assert float((whole - again).abs().max()) < 1e-5


def test_a_longer_length_goes_on_and_a_shorter_one_keeps_what_is_there():
    film = run(new(limit=4))
    assert (len(film.take.ids), film.stop) == (4, "limit")
    film.limit = N
    assert run(film).take.ids == expected()
    film.limit = 2
    assert (film.take.ids, film.stop) == (expected(), "limit")


def test_the_same_film_comes_from_its_settings_and_forced_tokens():
    film = run(new())
    film.force(5, film.take.choices[5].candidates[1].id)
    run(film)
    film.force(9, film.take.choices[9].candidates[1].id)
    run(film)
    again = new()
    again.go(DRAWN, dict(film.take.forced), at=0)
    assert run(again, 99).take.ids == film.take.ids
    assert [one.how for one in again.take.choices] == [one.how for one in film.take.choices]


def test_a_node_of_the_tree_opens_its_way_at_its_token():
    film = run(new())
    film.force(5, film.take.choices[5].candidates[1].id)
    run(film, 2)
    film.follow(expected()[:7])
    assert (film.take.ids, film.at) == (expected(), 7)
    name = film.name
    film.follow(expected()[:2])
    assert (film.at, film.name != name) == (2, True)


def test_a_beam_becomes_a_way_of_its_own():
    film = run(new(), 2)
    beam = (501, 502, 503)
    film.follow(beam)
    film.pull(film.wanted, silent)
    assert film.take.ids == beam
    assert [one.how for one in film.take.choices[1:]] == ["beam"] * 3
    capture = runner().capture(CaptureRequest(TEXT, continuation=beam))
    for i, chosen in enumerate(film.take.choices[1:]):
        logits = capture.logits(film.n_prompt - 1 + i).double()
        assert chosen.log_probability == pytest.approx(float(logits.log_softmax(0)[beam[i]]), abs=1e-4)


def test_the_end_of_the_text_ends_the_film():
    class Ending:
        """The runner, whose steps say that the second token ended the text."""

        def __getattr__(self, name: str) -> Any:
            return getattr(runner(), name)

        def generate(self, request: GenerateRequest, **_: Any) -> Any:
            for step in runner().generate(request):
                object.__setattr__(step, "stop", "end" if step.index == 1 else "")
                yield step

    film = new(by=Ending())
    run(film)
    assert (len(film.take.ids), film.stop, film.branches()[0].ended) == (2, "end", True)
    film.pull(3, silent)
    assert len(film.take.ids) == 2


def test_of_an_encoder_decoder_the_tokens_that_are_read_take_no_room():
    translator = load_runner("translator")
    prompt = as_square(translator.capture(CaptureRequest("The wolf loves Mary.", target="", attention="cross")))
    film = GenerationTree(translator, prompt, DRAWN, name="test", limit=10**6)
    assert film.room == translator.info.max_tokens - 1  # the token that begins
    assert film.n_prompt > 1
