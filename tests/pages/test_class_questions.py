"""Questions to a class, as its teacher's page asks them: what is true is the model's, or the small numbers'."""

from __future__ import annotations

import csv
import io
import math
from itertools import product

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from classroom.frames import Vote
from classroom.poll import ClassQuestion, Poll
from classroom.results import HEADINGS, results_csv
from classroom.room import Present, Room
from classroom.vocabulary import Vocabulary
from model_runner import CaptureRequest, load_runner
from model_runner.edits import ScaledHead
from tests.classroom.talking import frames
from tests.ui.driving import button, components, go, html, open_app, sentences, type_text
from ui.classroom import panel
from ui.classroom.columns import columns_of
from ui.classroom.questions import TWO_TEXTS

pytestmark = pytest.mark.table

STEPS = "pages/steps/page.py"
TEXT = "one two three one two three one two"


def open_room(**address: str) -> tuple[AppTest, Room]:
    """A page with its room, and the code put away."""
    app = open_app(**address)
    app.button(key="open_room").click().run()
    app.button(key="hide_code").click().run()
    return app, app.session_state["room"]


def vote(room: Room, *answers: str) -> None:
    assert room.poll is not None
    for number, answer in enumerate(answers):
        room.vote(Present(str(number)), Vote(room.poll.round, answer, ""))


def ask_head(app: AppTest, metric: str) -> None:
    app.selectbox(key="ask_metric").set_value(metric).run()
    app.button(key="ask_head").click().run()


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
    shown = html(app)
    assert "it is not a probability" in shown
    assert f"{50 * (measured[order[0]] + measured[order[-1]]):.0f} %" in shown
    assert [bar.label for bar in room.past[0].bars()][:2] == [order[0], order[-1]]
    assert "surprise:" not in shown


def test_shares_are_of_all_answers_and_those_that_are_not_drawn_are_counted(monkeypatch):
    question = ClassQuestion("next", "", "", Vocabulary([*"abcdefghijkl"]), ["0"], probability=lambda _token: 1 / 12)
    poll = Poll(question, 1, named=False)
    for number in range(20):  # twice of eight letters, once of four
        poll.take(str(number), Vote(1, str(number % 12), ""))
    monkeypatch.setattr("ui.classroom.columns._", str)
    asked, _model = columns_of(poll)
    assert asked.words == ["2 · 10 %"] * 8
    assert asked.values == [0.1] * 8
    assert asked.about.endswith(" · not drawn: 4")


def test_shares_of_one_reveal_are_on_one_scale_and_what_is_no_share_on_its_own(monkeypatch):
    monkeypatch.setattr("ui.classroom.columns._", str)
    monkeypatch.setattr("ui.wording.sentences._", str)
    model = {"0": 0.774, "1": 0.2, "2": 0.026}
    question = ClassQuestion("next", "", "", Vocabulary([*"abc"]), ["0"], probability=model.__getitem__)
    poll = Poll(question, 1, named=False, votes=[{"x": ("0", ""), "y": ("1", ""), "z": ("2", "")}, {"x": ("0", "")}])
    charts = panel._bars(columns_of(poll))
    assert [chart.most for chart in charts] == [1.0, 1.0, 1.0]  # the second vote, all of it
    assert len({chart.beside for chart in charts}) == 1
    measured = ClassQuestion("head", "", "", Vocabulary([*"abc"]), ["0"], measured=lambda _head: 5.0, unit="bits")
    columns = columns_of(Poll(measured, 1, named=False, votes=[{"x": ("0", ""), "y": ("1", "")}]))
    assert [chart.most for chart in panel._bars(columns)] == [0.5, 5.0]
    assert [words.endswith(" · so it is") for words in columns[-1].words] == [True, False]  # though they look the same


def test_a_metric_that_no_head_has_here_is_one_sentence():
    app, room = open_room(text="quokka")
    ask_head(app, "induction")
    assert sentences(app) == ["No head has a value of “induction” on this text."]
    assert room.poll is None


def test_where_a_token_looks_is_its_row_of_the_open_head_and_the_reveal_says_so(monkeypatch):
    app, room = open_room(text=TEXT, layer="6", head="4", query="7")
    app.button(key="ask_where").click().run()
    capture = load_runner("default").capture(CaptureRequest(text=TEXT))
    row = capture.weights(6, 4)[7, :8].tolist()
    asked = room.poll.question
    assert asked.words == f"Where does “{capture.tokens[7].text}” (position 7) look, in head L6H4?"
    assert asked.answers.offered()["options"] == [[str(at), f"{at} {capture.tokens[at].text}"] for at in range(8)]
    order = sorted(range(8), key=lambda at: -row[at])
    assert list(asked.likeliest) == [str(at) for at in order]
    entropy = -sum(p * math.log2(p) for p in row if p)
    assert f"{entropy:.2f} bits" not in html(app)
    vote(room, str(order[0]), str(order[2]))
    app.button(key="reveal").click().run()
    shown = html(app)
    assert f"unsure by {entropy:.2f} bits (entropy)" in shown
    assert f"surprise: {-(math.log2(row[order[0]]) + math.log2(row[order[2]])) / 2:.2f} bits" in shown
    bars = {bar.value: bar for bar in room.past[0].bars()}
    assert [bars[str(at)].probability for at in range(8)] == pytest.approx(row, abs=1e-6)
    assert [bars[str(at)].counts[0] for at in range(8)] == [int(at in (order[0], order[2])) for at in range(8)]
    monkeypatch.setattr("ui.classroom.columns._", str)  # outside a run there is no language
    model = columns_of(room.past[0])[-1]
    assert model.values == pytest.approx(row, abs=1e-6)
    assert model.labels == [f"{at} {capture.tokens[at].text}" for at in range(8)]


def probability_after(text: str, *edits: ScaledHead) -> tuple[int, float]:
    """The likeliest next token of the plain model, and its probability in the changed one."""
    runner = load_runner("default")
    plain, changed = (
        torch.softmax(runner.capture(CaptureRequest(text=text, edits=made)).logits(-1).double(), -1)
        for made in ((), edits)
    )
    token = int(plain.argmax())
    return token, float(changed[token])


def test_of_an_ablation_the_right_option_is_what_the_ablated_model_does(monkeypatch):
    """Of two heads, so that each of the options is right once."""
    found: dict[str, tuple[int, int]] = {}
    token, before = probability_after(TEXT)
    for layer, head in product(range(7, -1, -1), range(8)):
        after = probability_after(TEXT, ScaledHead(layer, head, 0.0))[1]
        if abs(after - before) > 1e-3:
            found.setdefault("likelier" if after > before else "less", (layer, head))
        if len(found) == 2:
            break
    for right, (layer, head) in sorted(found.items()):
        after = probability_after(TEXT, ScaledHead(layer, head, 0.0))[1]
        app, room = open_room(text=TEXT, layer=str(layer), head=str(head))
        app.button(key="ask_ablate").click().run()
        label = load_runner("default").token_text(token)
        words = f"Without head L{layer}H{head}: is “{label}” likelier as the next token, or less likely?"
        assert room.poll.question.words == words
        assert f"{100 * after:.2f} % without the head" not in html(app)
        vote(room, right, right, "less" if right == "likelier" else "likelier")
        app.button(key="reveal").click().run()
        bars = {bar.value: (bar.probability, bar.counts[0]) for bar in room.past[0].bars()}
        assert bars.pop(right) == (1, 2)
        assert list(bars.values()) == [(0, 1)]
        shown = html(app)
        assert "2 of 3 right" in shown
        told = f"{label}: {100 * before:.2f} % before, {100 * after:.2f} % without the head"
        assert f"{told}; surprise {-math.log2(before):.3f} bits, then {-math.log2(after):.3f}" in shown
        with monkeypatch.context() as outside:  # a run there is no language
            outside.setattr("ui.classroom.columns._", str)
            model = columns_of(room.past[0])[-1]
        said = {
            "likelier": {"likelier": "so it is", "less likely": ""},
            "less": {"likelier": "", "less likely": "so it is"},
        }
        assert dict(zip(model.labels, model.words, strict=True)) == said[right]
    assert sorted(found) == ["less", "likelier"]


def test_a_head_whose_absence_changes_nothing_is_no_question(monkeypatch):
    app, room = open_room(text=TEXT)
    monkeypatch.setattr("ui.classroom.questions.edited", lambda opened, _edits: opened.capture)
    app.button(key="ask_ablate").click().run()
    assert sentences(app) == ["Without this head the next token is exactly as likely: choose another head."]
    assert room.poll is None


def test_a_question_of_a_changed_model_says_so_on_the_board_on_the_phones_and_in_the_file():
    app, room = open_room(text=TEXT, edits="ScaledHead(4,2,0.0)", everywhere="1")
    app.button(key="ask_next").click().run()
    assert room.poll.question.changed == "changed: L4H2 ablated"
    assert "changed: L4H2 ablated" in html(app)
    for kind in ("stage", "poll"):
        assert [one for one in frames(room) if one["kind"] == kind][-1]["changed"] == "changed: L4H2 ablated"
    vote(room, room.poll.question.likeliest[0])
    app.button(key="reveal").click().run()
    assert "changed: L4H2 ablated" in html(app)
    heading, row, *_ = csv.reader(io.StringIO(results_csv(room.past, HEADINGS).decode("utf-8-sig")))
    assert dict(zip(heading, row, strict=True))["changes of the model"] == "changed: L4H2 ablated"


def test_what_a_head_does_that_is_changed_already_is_not_asked():
    app, room = open_room(text=TEXT, layer="4", head="2", edits="ScaledHead(4,2,0.5)", everywhere="1")
    app.button(key="ask_ablate").click().run()
    assert sentences(app) == ["Head L4H2 is changed already: choose another head, or undo the change."]
    assert room.poll is None


@pytest.mark.parametrize("kind", ["next", "ablate"])
def test_of_an_encoder_no_next_token_is_asked(kind):
    app, room = open_room(model="encoder")
    app.button(key=f"ask_{kind}").click().run()
    assert sentences(app) == ["This model does not predict a next token."]
    assert room.poll is None


@pytest.mark.parametrize("kind", ["next", "where", "ablate"])
def test_of_an_encoder_decoder_nothing_is_asked_so_far_and_the_page_that_knows_it_stays(kind):
    app, room = open_room(page="pages/cell/page.py", model="translator", attention="decoder")
    app.button(key=f"ask_{kind}").click().run()
    assert room.poll is None
    assert sentences(app) == [TWO_TEXTS]
    assert "cell_steps" in components(app)


def test_an_encoders_token_looks_both_ways():
    app, room = open_room(model="encoder", layer="1", head="1", query="2")
    app.button(key="ask_where").click().run()
    options = room.poll.question.answers.offered()["options"]
    assert len(options) == len(load_runner("encoder").capture(CaptureRequest(text=app.session_state["text"])).tokens)
    probability = room.poll.question.probability
    assert probability is not None
    assert sum(probability(value) for value, _ in options) == pytest.approx(1, abs=1e-5)


def test_on_a_text_too_long_to_tap_on_where_a_token_looks_is_not_asked_but_of_an_early_token():
    text = "one two three " * 80
    app, room = open_room(text=text)
    app.button(key="ask_where").click().run()
    assert sentences(app) == ["This text has too many tokens to tap on one of them: choose a shorter one."]
    assert room.poll is None
    for query, asked in (("200", False), ("199", True)):
        app, room = open_room(text=text, query=query)
        app.button(key="ask_where").click().run()
        assert (room.poll is not None) is asked
    assert len(room.poll.question.answers.offered()["options"]) == 200


def test_the_code_makes_way_for_a_text_a_model_or_a_page_and_a_question_keeps_the_address_true():
    app = open_app()
    app.button(key="open_room").click().run()
    for choose in (lambda: type_text(app, TEXT), lambda: app.selectbox(key="model_box").set_value("encoder").run()):
        assert button(app, "hide_code")
        choose()
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


@pytest.mark.parametrize("edits", ["ScaledHead(4,2,9.0)", "ScaledHead(99,0,0.0)"])
def test_a_question_on_a_page_that_begins_with_the_model_as_it_is_is_about_that(edits):
    place = {"layer": "5", "head": "1", "query": "7"}
    app, room = open_room(page="pages/kv_cache/page.py", text=TEXT, edits=edits, everywhere="1", **place)
    app.button(key="ask_where").click().run()
    assert sentences(app) == []
    weights = load_runner("default").capture(CaptureRequest(text=TEXT)).weights(5, 1)[7, :8]
    assert list(room.poll.question.likeliest) == [str(int(key)) for key in weights.argsort(descending=True)]


def test_a_page_that_refuses_stays_where_a_question_is_asked():
    app, room = open_room(page="pages/cell/page.py", text=TEXT, edits="ScaledHead(9,0,0.0)", everywhere="1")
    app.button(key="ask_where").click().run()
    assert room.poll is None
    assert len(sentences(app)) == 1
    assert "There is no layer 9" in sentences(app)[0]
