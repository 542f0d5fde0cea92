"""A number of Step by step as a question to a class: what is asked, what is right, and how far off answers are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.small_attention import small_attention, usual_numbers
from classroom.room import Room
from model_runner import CaptureRequest, load_runner
from tests.pages.test_class_questions import STEPS, open_room, vote
from tests.ui.driving import components, go, html, send
from ui.classroom.columns import columns_of
from ui.state.url_state import DEFAULT_TEXT

pytestmark = pytest.mark.table

TOLD: dict[str, Any] = {"row": 2, "column": 1, "name": "Q Kᵀ, row q₂, column k₁", "text": "Q: 1, 2", "decimals": 2}


def about(room: Room) -> str:
    """What is said of the answers, the numbers as they are in English."""
    assert room.poll is not None
    return columns_of(room.poll)[0].about


@pytest.mark.parametrize("lang, words", [("en", "answers: 3 · right: 1 · off by 0.75 · off by 2"), ("zh", "0.75")])
def test_a_covered_number_is_asked_with_its_true_value_and_revealed_with_every_distance(lang, words, monkeypatch):
    app, room = open_room(lang=lang)
    go(app, STEPS)
    send(app, "step_by_step", "ask", True)
    send(app, "step_by_step", "class", {"step": "scores", **TOLD})
    true = float(small_attention(usual_numbers(4, 4)).scores[0, 2, 1])
    assert "Q Kᵀ, row q₂, column k₁" in room.poll.question.words
    assert room.poll.question.text == "Q: 1, 2"
    assert "step_by_step" not in components(app)
    vote(room, str(true), f"{true + 0.75}", f"{true - 2}")
    app.button(key="vote_again").click().run()
    vote(room, str(true + 0.75))
    app.button(key="reveal").click().run()
    shown = html(app)
    assert words in shown
    monkeypatch.setattr("ui.classroom.columns._", str)
    assert columns_of(room.past[0])[-1].colors == [0, 1, 0]  # the true one's alone is the model's
    assert [(float(bar.value) - true, bar.counts) for bar in room.past[0].bars()] == [
        (-2, (1, 0)), (0, (1, 0)), (0.75, (1, 1)),
    ]  # fmt: skip


def test_what_the_page_shows_of_a_number_is_right_and_of_many_answers_the_middle_distance_is_told(monkeypatch):
    monkeypatch.setattr("ui.classroom.columns._", str)
    app, room = open_room()
    go(app, STEPS)
    send(app, "step_by_step", "class", {"step": "scores", **TOLD})
    true = float(room.poll.question.likeliest[0])
    vote(room, f"{true + 0.0049:.6f}")
    assert about(room) == "answers: 1 · right: 1"
    vote(room, f"{true - 0.0049:.6f}", f"{true - 0.3:.6f}")
    assert about(room) == "answers: 2 · right: 1 · off by 0.3"
    vote(room, *(f"{true + off:.6f}" for off in (0.001, 0.5, 0.25, 3)))
    assert about(room) == "answers: 4 · right: 1 · half of them are off by at most 0.375"
    vote(room, *(f"{true + off:.6f}" for off in (0, 0.001, 0.002, 2)))
    assert about(room) == "answers: 4 · right: 3"
    vote(room, *[f"{true + 2000:.6f}"] * 4)
    assert about(room) == "answers: 4 · right: 0 · half of them are off by at most 2,000"


def test_what_is_no_number_is_not_asked():
    app, room = open_room()
    go(app, STEPS)
    hidden, outside = {"step": "mask", "row": 0, "column": 3}, {"step": "scores", "row": 9, "column": 0}
    finer, none = {"step": "scores", "decimals": 99}, {"step": "scores", "decimals": "x"}
    for told in (hidden, outside, finer, none, {"step": "?"}):
        send(app, "step_by_step", "class", TOLD | told)
        assert room.poll is None
    for told in ("x", None):
        send(app, "step_by_step", "class", told)
        assert room.poll is None


def test_of_the_model_the_number_asked_for_is_its_own():
    app, room = open_room(layer="6", head="4", query="7")
    app.query_params["steps.source"] = "model"
    go(app, STEPS)
    send(app, "step_by_step", "class", TOLD | {"step": "softmax", "row": 0, "column": 0})
    weights = load_runner("default").capture(CaptureRequest(text=DEFAULT_TEXT)).weights(6, 4)
    assert np.isclose(weights.numpy(), float(room.poll.question.likeliest[0]), rtol=1e-5, atol=1e-7).any()
