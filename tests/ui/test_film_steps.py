"""What stops a film, and that no token is lost when a run, a reader or a model leaves in the middle."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from jobs.generation_tree import GenerationTree
from jobs.interruptible_steps import InterruptibleSteps
from jobs.session_jobs import SessionJobs
from model_runner import CaptureRequest, GenerateRequest, load_runner
from model_runner.errors import Cancelled, CannotContinue, ContextFull
from tests.ui.test_film import DRAWN, TEXT, N, expected, new, run, runner, silent

# -- what goes wrong --------------------------------------------------------------------------------------------------


def test_a_prompt_as_long_as_the_context_is_refused():
    film = new(text="a " * 2046)
    assert film.n_prompt == 2048 or pytest.skip(f"{film.n_prompt} tokens")
    with pytest.raises(ContextFull, match="2048"):
        film.start(silent)


def test_a_prompt_that_nearly_fills_the_context_stops_there():
    film = new(text="a " * 2045)
    left = 2048 - film.n_prompt
    assert 0 < left < N
    run(film)
    assert (len(film.take.ids), film.stop) == (left, "limit")


def test_an_encoder_says_that_it_cannot_continue(tmp_path):
    from tests.model_runner.families import FAMILIES
    from tests.model_runner.tiny import byte_tokenizer

    next(family for family in FAMILIES if family.name == "bert").build().save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    encoder = load_runner(str(tmp_path))
    film = GenerationTree(encoder, encoder.capture(CaptureRequest("hello")), DRAWN, name="test", limit=3)
    with pytest.raises(CannotContinue):
        film.start(silent)


class Slow:
    """The runner, whose every step waits for a sign."""

    def __init__(self) -> None:
        self.go, self.ended = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(runner(), name)

    def generate(self, request: GenerateRequest, **_: Any) -> Any:
        try:
            for step in runner().generate(request):
                self.go.wait(10)
                yield step
        finally:
            self.ended.set()


def test_two_runs_that_pull_at_once_lose_no_step():
    slow = Slow()
    film = new(by=slow)
    runs = [threading.Thread(target=film.pull, args=(2, silent)) for _ in range(2)]
    for one in runs:
        one.start()
    time.sleep(0.2)  # both wait
    slow.go.set()
    for one in runs:
        one.join(10)
    assert 2 <= len(film.take.ids) <= 4
    assert film.take.ids == expected()[: len(film.take.ids)]


def test_a_run_that_waits_for_a_generator_let_go_is_cancelled():
    slow, request = Slow(), GenerateRequest(TEXT, max_new_tokens=3, sampling=DRAWN)
    steps = InterruptibleSteps("test")

    def let_go() -> None:
        steps.close()
        slow.go.set()

    with pytest.raises(Cancelled):
        steps.next(slow, request, let_go)


def test_a_newer_run_takes_over_at_once_and_finds_the_step_that_was_under_way():
    slow = Slow()
    film = new(by=slow)

    class TakesOver(BaseException):
        """Streamlit's way to leave a run."""

    def leave() -> None:
        raise TakesOver

    began = time.monotonic()
    with pytest.raises(TakesOver):
        film.pull(3, leave)
    assert time.monotonic() - began < 5
    slow.go.set()
    assert run(film, 3).take.ids == expected()[:3]


def test_closing_lets_the_generator_go_even_in_the_middle_of_a_step():
    slow = Slow()
    film = new(by=slow)

    def leave() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film.pull(3, leave)
    film.close()
    assert not slow.ended.is_set()
    slow.go.set()
    assert slow.ended.wait(10)
    slow.go.set()
    assert run(film, 3).take.ids == expected()[:3]


def test_a_model_loaded_anew_goes_on_with_the_same_film():
    film = run(new(), 4)
    fresh = load_runner("default")
    film.go_on_with(fresh, fresh.capture(CaptureRequest(TEXT)))
    assert run(film, 99).take.ids == expected()


def test_what_a_session_leaves_is_closed_and_a_film_can_go_on_when_it_comes_back():
    works = SessionJobs("session")
    film = works.get("film", "key", lambda name: run(new(), 3))
    works.close()
    assert works.get("film", "key", lambda name: new()) is film
    assert run(film, 99).take.ids == expected()


def test_other_work_that_is_closed_is_not_given_back():
    class Race:
        closed = False

        def close(self) -> None:
            self.closed = True

    works = SessionJobs("session")
    race = works.get("race", "key", lambda name: Race())
    works.close()
    assert race.closed
    assert works.get("race", "key", lambda name: Race()) is not race
