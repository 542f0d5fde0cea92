"""What was generated, in the badge and on the other pages; and what cannot be generated, in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis.examples import OF_MODEL
from model_runner import CaptureRequest, GenerateRequest, load_runner
from model_runner.questions import Beams
from pages.film.export import film_view
from pages.film.tables import tables_of
from tests.pages.test_film import PAGE, PROMPT, film, ids, key_of, more, opened, steps, tokens
from tests.ui.driving import components, go, html, open_app, payload, send, sentences, type_text
from ui.shared import cached
from ui.state.url_state import DEFAULT_TEXT
from ui.wording import i18n


def test_the_badge_checks_all_that_is_shown(monkeypatch):
    checked: list[int] = []
    check = cached.check
    monkeypatch.setattr(
        cached, "check", lambda capture, layer: checked.append(len(capture.tokens)) or check(capture, layer)
    )
    app = open_app(page=PAGE)
    assert checked[-1] == PROMPT + 1  # one token is always ready
    more(app, 6)
    assert checked[-1] == PROMPT + len(tokens(app)) == PROMPT + 5


def test_a_length_set_lower_cuts_the_film_to_what_its_address_opens():
    app = more(open_app(page=PAGE, length="6"), 6)
    app.number_input(key="film.length").set_value(2).run()
    assert (tokens(app), film(app)["stop"]) == (ids(2), "limit")
    again = more(open_app(page=PAGE, **app.query_params), 2)
    assert tokens(again) == ids(2)
    assert again.query_params == app.query_params
    app.number_input(key="film.length").set_value(5).run()
    assert tokens(more(app, 5)) == ids(5)


def test_a_branch_of_other_settings_brings_them_back():
    app = more(open_app(page=PAGE, length="4"), 4)
    of_seed_0, address = tokens(app), app.query_params.copy()
    app.number_input(key="sampling.seed").set_value(5).run()
    assert tokens(more(app, 4)) != of_seed_0
    assert app.query_params["sampling.seed"] == "5"
    send(app, "token_tree", "node", ".".join(map(str, of_seed_0)))
    assert tokens(app) == of_seed_0
    assert app.number_input(key="sampling.seed").value == 0
    assert app.query_params == address | {"film.ways": "open~~steps.4~seed.5"}


def test_beams_of_a_translator_are_of_what_it_writes_and_the_likeliest_opens():
    text = OF_MODEL["translator"][0].text
    app = more(open_app(page=PAGE, model="translator", text=text, length="4"), 2)
    app.selectbox(key="film_width").set_value(3)
    app.button(key="film_beams").click().run()
    assert sentences(app) == []
    asked = Beams(GenerateRequest(text, 4, target=""), 3)
    ranking = load_runner("translator").submit(asked).result().ranking
    tree = payload(app, "token_tree")[0]
    named = {name: node for i, node in enumerate(tree["ids"]) for name in tree["names"].get(str(i), [])}
    assert {named[f"beam {place}"] for place in (1, 2, 3)} == {".".join(map(str, one.beam.ids)) for one in ranking[:3]}
    send(app, "token_tree", "node", named["beam 1"])
    assert tuple(tokens(app)) == ranking[0].beam.ids
    assert app.query_params["film.beams"] == "3"


def test_the_saved_picture_and_the_tables_are_of_the_frame_in_view(monkeypatch):
    app = more(open_app(page=PAGE), 4)
    held = app.session_state["jobs"].get("film", key_of(app), lambda _: None)
    monkeypatch.setattr(i18n, "language", lambda: "en")
    title = "where {label} looks, and what comes after it<"
    for at in (0, 2):
        send(app, "film", "rest", {"film": film(app)["film"], "have": len(film(app)["frames"]), "at": at})
        picture = film_view(opened(held), held, every_head=False).picture
        assert picture is not None
        assert title.format(label=film(app)["frames"][at]["label"]) in picture("", "")
        row = list(tables_of(opened(held), held).values())[-1]["weight"]
        assert len(row) == PROMPT + at == len(film_view(opened(held), held, every_head=False).arrays()["attention_row"])
        assert float(row.to_numpy().sum()) == pytest.approx(1, abs=1e-4)


def test_at_the_prompt_the_text_alone_opens_in_heads():
    app = open_app(page=PAGE)
    app.button(key="film_open").click().run()
    go(app, "pages/heads/page.py")
    assert len(payload(app, "token_strip")[0]["labels"]) == PROMPT
    assert "continuation" not in app.query_params


@pytest.mark.parametrize("model", ["encoder", "default"])
def test_what_sets_nothing_is_not_there_of_a_model_that_generates_nothing(model):
    app = open_app(page=PAGE, model=model, text="some text")
    there = {"film.length", "film_open", "all_settings", "film.one_head", "sampling.temperature"}
    widgets = [*app.number_input, *app.slider, *app.button, *app.toggle]
    assert {one.key for one in widgets} & there == (there if model == "default" else set())


def test_the_text_opens_in_heads_with_its_generated_tokens_and_they_can_be_dropped():
    app = more(open_app(page=PAGE), 3)
    send(app, "film", "rest", {"film": film(app)["film"], "have": 4, "at": 2})
    generated = tokens(more(open_app(page=PAGE), 3))[:2]  # the reader has not come to the third
    app.button(key="film_open").click().run()
    go(app, "pages/heads/page.py")  # as the button does, which this way of testing does not follow
    assert "head_grid" in components(app)
    labels = payload(app, "token_strip")[0]["labels"]
    assert len(labels) == PROMPT + len(generated)
    assert app.query_params["continuation"] == ".".join(map(str, generated))
    assert app.text_area(key="text_box").value == DEFAULT_TEXT
    assert f"+ {len(generated)} generated tokens" in html(app)
    weights = steps()[1].capture.weights(3, 7).numpy()
    app = open_app(**{**app.query_params, "layer": "3", "head": "7"})
    shown = payload(app, "head_map")[1]
    assert any(
        np.allclose(array, weights, atol=1e-5, equal_nan=False)
        for array in map(np.nan_to_num, shown.values())
        if array.shape == weights.shape
    )
    app.button(key="drop_continuation").click().run()
    assert len(payload(app, "token_strip")[0]["labels"]) == PROMPT
    assert "continuation" not in app.query_params


def test_another_text_drops_the_generated_tokens():
    app = type_text(open_app(continuation=".".join(map(str, ids(3)))), "The capital of France is")
    assert "continuation" not in app.query_params
    assert len(payload(app, "token_strip")[0]["labels"]) == 6


@pytest.mark.parametrize(
    "value, said",
    [
        ("abc", "“abc” is not a number for generated tokens."),
        ("1.-2", "The generated tokens is -2; it must be at least 0."),
    ],
)
def test_a_continuation_that_is_no_list_of_ids_is_one_sentence(value, said):
    app = open_app(continuation=value)
    assert sentences(app) == [said]


def test_a_continuation_beyond_the_vocabulary_is_one_sentence():
    app = open_app(continuation="999999")
    assert any("999,999" in shown for shown in sentences(app)), sentences(app)


def test_the_film_page_begins_at_the_text_whatever_the_other_pages_look_at():
    app = open_app(page=PAGE, continuation=".".join(map(str, ids(3))))
    assert len(film(app)["prompt"]["labels"]) == PROMPT
    assert tokens(app) == ids(1)


# -- what cannot be generated -----------------------------------------------------------------------------------------


def test_a_prompt_as_long_as_the_context_is_one_sentence():
    app = open_app(page=PAGE, text="a " * 2046)
    assert any("no token can follow" in shown for shown in sentences(app)), sentences(app)
    assert "film" not in components(app)


def test_a_chat_without_a_template_is_one_sentence_with_a_way_out():
    app = open_app(page=PAGE, chat="1")
    assert any("without a chat template" in shown for shown in sentences(app)), sentences(app)
    app.button(key="drop_continuation").click().run()
    assert sentences(app) == []
    assert tokens(app) == ids(1)


def test_broken_logits_say_so_and_what_was_there_stays(monkeypatch):
    app = more(open_app(page=PAGE), 3)
    from model_runner import sampling

    def broken(*_: Any) -> Any:
        raise sampling.BrokenLogits

    with monkeypatch.context() as patch:
        patch.setattr(sampling, "stages", broken)
        asked = {"film": film(app)["film"], "have": len(film(app)["frames"]), "at": 3, "wanted": 3, "ask": 77}
        send(app, "film", "more", asked)
        assert len(sentences(app)) == 1
    assert tokens(app)[:3] == ids(3)
    assert tokens(more(app, 6))[:6] == ids(6)


def test_what_no_setting_removed_has_a_share_however_small(monkeypatch):
    monkeypatch.setattr(i18n, "language", lambda: "en")
    app = open_app(page=PAGE, temperature="0.01")
    held = app.session_state["jobs"].get("film", key_of(app), lambda _: None)
    assert any(one.kept and one.final == 0 for one in held.take.choices[0].candidates)
    frame = film(app)["frames"][0]
    assert all(frame["kept"])
    assert min(*frame["finals"], frame["final_rest"]) > 0
    picture = film_view(opened(held), held, every_head=False).picture
    assert picture
    svg = picture("title", "caption")
    assert "&lt; 0.01 %" in svg
    assert svg.count(">0 %<") == 1  # the least of the colours


@pytest.mark.long
def test_a_film_that_the_context_ends_says_so_and_one_that_its_length_ends_says_that():
    text = "word " * 2043
    left = 2048 - len(load_runner("default").capture(CaptureRequest(text)).tokens)
    assert 1 < left < 20
    said = {
        length: payload(open_app(page=PAGE, text=text, length=str(length)), "film")[0]["texts"]["limit"]
        for length in (left, 20)
    }
    assert said[left] == "Stopped at the length set."
    assert said[20] == f"Only {left} tokens fit after the text: this model was built for 2048 positions."


def test_of_what_a_translator_writes_is_said_how_much_fits_not_of_what_it_reads():
    text, target = OF_MODEL["translator"][0].text, "I " * 252
    written = load_runner("translator").capture(CaptureRequest(text, target=target)).tokens
    left = 512 - len(written)
    assert 1 < left < 20
    app = open_app(page=PAGE, model="translator", text=text, target=target, length="20")
    said = f"Only {left} tokens fit after the output: this model has 512 positions for it."
    assert payload(app, "film")[0]["texts"]["limit"] == said
