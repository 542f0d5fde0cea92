"""An example with a word changed says what comes of it; a click on an example opens it as a first visit does."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest

from analysis.examples import EXAMPLES, OF_ANOTHER, OF_MODEL
from pages.heads.state import HeadsState
from tests.ui.driving import App, html, open_app, payload, send, type_text
from ui.state.session import HIDES_STORY
from ui.state.url_values import address_of, fields


def shown(text: str, **address: str) -> str:
    """The words that the page shows of itself, without their marks."""
    return unescape(re.sub(r"<[^>]+>", "", html(open_app(text=text, **address))))


def click(app: App, topic: str) -> None:
    next(button for button in app.button if button.label == topic).click().run()


def test_a_look_that_is_copied_no_more_is_said_with_its_numbers():
    said = shown("king bell ball tree king bell ball")
    assert "This is an example with “lion” changed to “tree”" in said
    assert "Its head still looks at the same place: 90 % at “tree”; in the original 98 % at “lion”" in said
    assert "; in the original ·lion: 96 %." in said
    assert "“tree”, which the head looks at, is not among the 5 likeliest." in said


def test_of_a_word_that_stands_there_twice_it_is_said_which():
    said = shown("When Mary and John went to the store, Mary gave a drink to")
    assert "with “John” changed to “Mary”\u00a0(10)" in said
    assert "The likeliest token is now ·John: 99 %; in the original ·Mary: 99.9 %." in said
    assert "“Mary”\u00a0(2), which the head looks at, has only 1.0 %." in said


@pytest.mark.parametrize("text", ["A Shawshank", "def add(a, c): return a +", "床前明月亮，"])
def test_a_text_known_by_heart_says_what_comes_next(text: str):
    said = shown(text)
    assert "This is an example with" in said
    assert "The likeliest token is" in said


def test_two_answers_stay_two_with_a_word_changed():
    said = shown("The cat chased the squirrel because it")
    assert "L6H3, in the same layer, puts" in said
    assert "Neither was a reason there: without L6H4" in said


@pytest.mark.parametrize(
    "model, text",
    [
        ("encoder", "The capital of Spain is [MASK]."),
        ("translator", "The dog chased the bird in the garden yesterday."),
        ("translator", "那匹马今早把那首绿色的诗放在了桌子下面。"),
    ],
)
def test_the_other_embedded_models_say_it_too(model: str, text: str):
    said = shown(text, model=model)
    assert "Its head still looks" in said
    assert ("After “" in said) is (model == "translator")  # whose page lists what comes after the end


def test_it_is_said_in_chinese():
    said = shown("意大利的首都是罗马。德国的首都是", lang="zh")
    assert "只把“法国”改成了“德国”" in said
    assert "而那个示例打开的就是这个头" in said


def test_code_is_no_beginning_of_itself():
    said = shown("def add(a, b): return a +")
    assert "it has read lines like this one often" in said
    assert "the beginning of “b”" not in said


def test_an_example_lets_go_of_a_head_that_was_picked_and_of_what_hides_its_story():
    names = {address_of(HeadsState, name) for name in fields(HeadsState)}
    assert set(HIDES_STORY) <= names
    away = {"layer": "2", "head": "1", "query": "3", "key": "1", "window": "0,4,0,4", "chat": "true"}
    hides = {"heads.what": "scores", "heads.hide_first": "true", "heads.unit": "words", "heads.other": "L3H3"}
    app = open_app(text="Some text that was typed by hand", **(away | hides))
    click(app, "pronoun")
    first = open_app(text=EXAMPLES[0].text)
    assert app.query_params == first.query_params
    assert "That is why" in html(app)
    (meta, arrays), (first_meta, first_arrays) = payload(app, "head_map"), payload(first, "head_map")
    assert meta == first_meta
    assert all(np.array_equal(arrays[name], first_arrays[name], equal_nan=True) for name in first_arrays)


def test_the_example_at_hand_is_opened_anew():
    app = open_app(text=EXAMPLES[0].text)
    send(app, "head_grid", "head", [1, 2])
    assert "That is why" not in html(app)
    click(app, "pronoun")
    assert "That is why" in html(app)


def test_a_text_typed_by_hand_keeps_the_head():
    app = open_app(text=EXAMPLES[0].text)
    send(app, "head_grid", "head", [1, 2])
    type_text(app, "The cat is behind the dog. It")
    assert [app.query_params[name] for name in ("layer", "head")] == ["1", "2"]


@pytest.mark.parametrize("lang, there, back", [("en", "translation", "next word"), ("zh", "翻译", "接着写")])
def test_the_translators_examples_lead_back(lang: str, there: str, back: str):
    app = open_app(lang=lang)
    click(app, there)
    assert app.text_area(key="text_box").value in {one.text for one in OF_MODEL["translator"]}
    click(app, back)
    assert app.selectbox(key="model_box").value == "default"
    text = next(one.text for one in OF_ANOTHER["translator"] if one.topic == back)
    assert app.text_area(key="text_box").value == text
    assert there in {button.label for button in app.button}
    assert {"en": "That is why", "zh": "所以接下来是"}[lang] in html(app)
