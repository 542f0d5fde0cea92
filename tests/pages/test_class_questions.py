"""Questions to a class, as its teacher's page asks them: what is true is the model's, or the small numbers'."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.small_attention import small_attention, usual_numbers
from classroom.frames import Vote
from classroom.room import Room
from model_runner import CaptureRequest, load_runner
from tests.ui.driving import button, components, go, html, no_failure, open_app, send, sentences, type_text
from ui.session import DEFAULT_TEXT

pytestmark = pytest.mark.table

STEPS = "pages/steps/page.py"
TEXT = "one two three one two three one two"


def open_room(**address: str) -> tuple[AppTest, Room]:
    """A page with its room, and the code put away."""
    app = open_app(**address)
    app.button(key="open_room").click().run()
    app.button(key="hide_code").click().run()
    no_failure(app)
    return app, app.session_state["room"]


def vote(room: Room, *answers: str) -> None:
    assert room.poll is not None
    for number, answer in enumerate(answers):
        room.vote(str(number), Vote(room.poll.round, answer, ""))


def ask_head(app: AppTest, metric: str) -> None:
    app.selectbox(key="ask_metric").set_value(metric).run()
    app.button(key="ask_head").click().run()
    no_failure(app)


def test_the_head_with_most_of_a_metric_is_that_of_the_weights_and_is_told_at_the_reveal_alone():
    app, room = open_room(text=TEXT)
    ask_head(app, "previous")
    capture = load_runner("default").capture(CaptureRequest(text=TEXT))
    measured = {}
    for layer in range(capture.n_layers):
        for head in range(capture.n_heads):
            weights = capture.weights(layer, head)
            measured[f"L{layer}H{head}"] = np.mean([float(weights[at, at - 1]) for at in range(1, len(weights))])
    order = sorted(measured, key=lambda head: -measured[head])
    assert list(room.poll.question.likeliest) == order[:8]
    assert room.poll.bar(order[-1]).measured == pytest.approx(measured[order[-1]], abs=1e-6)
    assert order[0] not in html(app)
    vote(room, order[-1], order[0])
    app.button(key="reveal").click().run()
    no_failure(app)
    shown = html(app)
    assert "it is no probability" in shown
    assert f"{50 * (measured[order[0]] + measured[order[-1]]):.0f} %" in shown
    assert [bar.label for bar in room.past[0].bars()][:2] == [order[0], order[-1]]
    assert "surprise:" not in shown


def test_a_metric_that_no_head_has_here_is_one_sentence():
    app, room = open_room(text="quokka")
    ask_head(app, "induction")
    assert sentences(app) == ["No head has a value of “induction” on this text."]
    assert room.poll is None


@pytest.mark.parametrize("lang, words", [("en", "half of them are off by at most 0.75"), ("zh", "0.75")])
def test_a_covered_number_is_asked_with_its_true_value_and_revealed_with_every_distance(lang, words):
    app, room = open_room(lang=lang)
    go(app, STEPS)
    send(app, "step_by_step", "ask", True)
    told = {"step": "scores", "row": 2, "column": 1, "name": "Q Kᵀ, row q₂, column k₁", "text": "Q: 1, 2"}
    send(app, "step_by_step", "class", told)
    no_failure(app)
    true = float(small_attention(usual_numbers(4, 4)).scores[0, 2, 1])
    assert "Q Kᵀ, row q₂, column k₁" in room.poll.question.words
    assert room.poll.question.text == "Q: 1, 2"
    assert "step_by_step" not in components(app)
    vote(room, str(true), f"{true + 0.75}", f"{true - 2}")
    app.button(key="vote_again").click().run()
    vote(room, str(true + 0.75))
    app.button(key="reveal").click().run()
    no_failure(app)
    shown = html(app)
    assert words in shown
    assert [(float(bar.label) - true, bar.counts) for bar in room.past[0].bars()] == [
        (-2, (1, 0)), (0, (1, 0)), (0.75, (1, 1)),
    ]  # fmt: skip


def test_what_is_no_number_is_not_asked():
    app, room = open_room()
    go(app, STEPS)
    hidden, outside = {"step": "mask", "row": 0, "column": 3}, {"step": "scores", "row": 9, "column": 0}
    for told in (hidden, outside, {"step": "?"}, "x", None):
        send(app, "step_by_step", "class", {"name": "x", "text": "x", **told} if isinstance(told, dict) else told)
        no_failure(app)
        assert room.poll is None


def test_of_the_model_the_number_asked_for_is_its_own():
    app, room = open_room(layer="6", head="4", query="7")
    app.query_params["steps.source"] = "model"
    go(app, STEPS)
    send(app, "step_by_step", "class", {"step": "softmax", "row": 0, "column": 0, "name": "A", "text": ""})
    no_failure(app)
    weights = load_runner("default").capture(CaptureRequest(text=DEFAULT_TEXT)).weights(6, 4)
    assert np.isclose(weights.numpy(), float(room.poll.question.likeliest[0]), rtol=1e-5, atol=1e-7).any()


def test_the_code_makes_way_for_a_text_a_model_or_a_page_and_a_question_keeps_the_address_true():
    app = open_app()
    app.button(key="open_room").click().run()
    for choose in (lambda: type_text(app, TEXT), lambda: app.selectbox(key="model_box").set_value("encoder").run()):
        assert button(app, "hide_code")
        choose()
        no_failure(app)
        assert not button(app, "hide_code")
        assert app.query_params.get("model", "default") == app.session_state["model"]
        assert app.query_params["text"] == app.text_area(key="text_box").value
        app.button(key="show_code").click().run()
    go(app, STEPS)
    assert not button(app, "hide_code")
    app.selectbox(key="model_box").set_value("default").run()
    app.button(key="ask_next").click().run()
    type_text(app, "The king")
    assert button(app, "reveal")
    assert app.query_params["text"] == "The king"


def test_who_follows_is_told_of_another_page_before_that_page_has_drawn_anything(monkeypatch):
    app, room = open_room()
    told: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(room, "wake", lambda: told.append((room.board._stage["title"], room.board._stage["figures"])))
    go(app, STEPS)
    assert told[0] == ("How is it computed?", [])
    told.clear()
    app.run()
    assert all(figures for _, figures in told)  # of the same page nothing is taken away
