"""The search for heads that matter: what it caches between targets, and what it does not."""

from __future__ import annotations

from jobs.head_search import MOST, Search, layers_of
from model_runner import load_runner
from tests.pages.expected import capture, runner


def top():
    return int(capture().logits(-1).argmax())


def test_what_was_found_is_kept_for_a_text_and_target_and_nothing_of_the_captures():
    search, own = Search("test"), capture()
    first = search.aim(runner(), own, top())
    while first.running:
        first.pull()
    assert len(first.items) == own.n_layers
    other = search.aim(runner(), own, 5)
    assert other.running
    assert other.items == []
    again = search.aim(runner(), own, top())
    assert not again.running
    assert again.items == first.items
    search.close()  # the browser is gone
    begun = search.aim(runner(), own, 7)
    assert begun.running
    search.close()
    assert not begun.running
    assert search.aim(runner(), own, 7).running  # and comes back


def test_a_model_loaded_anew_is_asked_for_what_is_left(monkeypatch):
    search, other = Search("test"), load_runner("default")
    own = other.capture(capture().request)
    with monkeypatch.context() as patch:
        patch.setattr("jobs.incremental_task.BUDGET", 0.0)
        first = search.aim(runner(), capture(), top())
        first.pull()
    asked: list[int] = []
    submit = other.submit
    monkeypatch.setattr(other, "submit", lambda *given, **named: asked.append(1) or submit(*given, **named))
    second = search.aim(other, own, top())
    done = len(second.items)
    while second.running:
        second.pull()
    assert second.error is None
    assert len(second.items) == own.n_layers
    assert len(asked) == own.n_layers - done
    assert search.aim(other, own, top()) is second


def test_only_the_latest_answers_are_kept():
    search = Search("test")
    for target in range(MOST + 3):
        search.aim(runner(), capture(), target)
    assert [target for _request, target, _against in search._known] == list(range(3, MOST + 3))
    search.close()


def test_the_last_layer_comes_first():
    assert layers_of(capture()) == tuple(range(7, -1, -1))
