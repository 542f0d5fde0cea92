"""Lessons on their pages: every step opens what it names, and what it says of the picture is the model's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from classroom.room import Room
from lessons.shelf import HERE, Lesson, lessons
from lessons.step import LessonStep, written
from pages.entries import ENTRIES
from tests.classroom.talking import frames
from tests.pages.expected import capture, runner
from tests.pages.shown import complete, words
from tests.ui.driving import button, components, html, open_app, payload, send, sentences, type_text, widgets
from ui.wording.i18n import LANGUAGES

FILES = {entry.address: entry.file for entry in ENTRIES}
SHIPPED = {language: lessons([HERE], language, FILES)[0] for language in LANGUAGES}
STEPS = [
    pytest.param(language, lesson, number, id=f"{language}-{lesson.name}-{number}")
    for language, found in SHIPPED.items()
    for lesson in found
    for number in range(1, len(lesson.steps) + 1)
]
TOURS = ["model", "variants", "softmax", "gpt", "transformer"]
BOLD = re.compile(r"\*\*(.+?)\*\*")


NUMBER = re.compile(r"(?<![A-Za-z\d.,])\d+(?:[.,]\d+)*")  # the digits of L6H4 are a name
IN_WORDS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "hundred": 100,
}


def wrong_numbers(step: LessonStep, shown: str) -> list[tuple[str, str]]:
    """Each number of a step's words that neither its page nor its address has, after the sentence that says it."""
    there = {number.replace(",", "") for number in NUMBER.findall(f"{shown} {' '.join(dict(step.parts).values())}")}
    found: list[tuple[str, str]] = []
    text = dict(step.parts)["text"]  # its own words are no numbers
    for sentence in re.split(r"(?<=[.?!])\s+|(?<=[。？！])", step.plain_words):
        said = NUMBER.findall(sentence)
        spelt = (word for word in IN_WORDS if word not in text and re.search(rf"\b{word}\b", sentence))
        said += [str(IN_WORDS[word]) for word in spelt]
        found += [(sentence, number) for number in said if number.replace(",", "") not in there]
    return found


def open_step(language: str, lesson: Lesson, number: int) -> AppTest:
    step = lesson.steps[number - 1]
    place = {"lesson": lesson.name} | ({"step": str(number)} if number > 1 else {})
    app = open_app(page=FILES[step.page], **dict(step.parts), **place, lang=language)
    return app.button(key="lesson_skip").click().run() if button(app, "lesson_skip") else app


def stage(room: Room) -> dict[str, Any]:
    """What those who follow the room are told of its page."""
    return [told for told in frames(room) if told["kind"] == "stage"][-1]


def charted(app: AppTest) -> list[str]:
    """What is written at the bars of charts and in the cells of tables."""
    lines = [line for chart in app.get("plotly_chart") for line in json.loads(chart.proto.spec)["data"]]
    cells = [str(cell) for table in app.table for cell in table.value.to_numpy().ravel()]
    return [str(one) for line in lines for one in line.get("text") or ()] + cells


def beside(app: AppTest, step: LessonStep) -> str:
    """Every word on the page, in menus and of controls, but those of the step."""
    own = re.sub(r"\s+", " ", step.words)
    everything = " ".join([words(app), *charted(app)])
    assert own in everything
    labels = [proto.label for proto in widgets(app)] + [one.label for one in app.button]
    options = [str(getattr(one, "content", one)) for proto in widgets(app) for one in getattr(proto, "options", ())]
    return re.sub(r"\s+", " ", " ".join([everything.replace(own, ""), *labels, *options]).replace("\\", ""))


@pytest.mark.table
@pytest.mark.parametrize("language, lesson, number", STEPS)
def test_a_step_opens_its_picture_and_what_it_names_is_there(language, lesson, number):
    step = lesson.steps[number - 1]
    app = complete(open_step(language, lesson, number))
    assert sentences(app) == []
    assert not button(app, "lesson_again_here")  # it shows what the step opens: every part of its address counts
    shown = beside(app, step)
    assert wrong_numbers(step, shown) == []
    assert [(step.words, bold) for bold in BOLD.findall(step.words) if bold not in shown] == []
    at = app.query_params
    kept = {name: at[name][0] if isinstance(at[name], list) else at[name] for name in at}
    usual = {"text"} if app.text_area(key="text_box").value == dict(step.parts)["text"] else set()
    assert {name: value for name, value in step.parts if name not in usual and kept.get(name) != value} == {}


def test_a_number_that_the_page_does_not_have_is_named_with_its_sentence():
    wrong = "Of 8.5 heads, three: 1,000 and L3H7, 6."
    step = LessonStep("One", "", (("text", "one two"), ("layer", "6")), f"It has **77 %**. {wrong}")
    assert wrong_numbers(step, "77 % of 8.5") == [(wrong, "1,000"), (wrong, "3")]


@pytest.mark.parametrize("language, lesson, number", STEPS)
def test_a_step_that_asks_for_the_next_token_does_not_tell_it(language, lesson, number):
    step = lesson.steps[number - 1]
    if step.question == "next":
        likely = capture(dict(step.parts)["text"]).logits(-1).topk(2).indices.tolist()
        assert not {runner().token_text(token).strip("·") for token in likely} & set(BOLD.findall(step.words))


def asking(name: str, number: int, language: str = "en") -> tuple[AppTest, LessonStep]:
    """A step's page as it opens for who learns alone, its question not answered."""
    lesson = next(one for one in SHIPPED[language] if one.name == name)
    step = lesson.steps[number - 1]
    place = {"lesson": name} | ({"step": str(number)} if number > 1 else {})
    return open_app(page=FILES[step.page], **dict(step.parts), **place, lang=language), step


ASKING = [(one.name, number) for one in SHIPPED["en"] for number, step in enumerate(one.steps, 1) if step.question]
PICTURES = {"head_grid", "token_lines", "film", "layer_head_map", "sampling_bench"}  # that tell an answer


@pytest.mark.parametrize("name, number", ASKING)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_is_asked_before_its_answer_is_shown(name, number, language):
    app, step = asking(name, number, language)
    assert sentences(app) == []
    assert not PICTURES & set(components(app))
    assert "atlas-next" not in html(app)
    assert components(app).count("head_map") == (step.page in ("", "edit_heads"))
    assert components(app).count("model_strip") == 1
    options = [one for one in app.button if (one.key or "").startswith("lesson_answer_")]
    assert len(options) >= 2
    options[0].click().run()
    assert not button(app, "lesson_skip")
    assert "atlas-verdict" in html(app)


@pytest.mark.parametrize("name, layer, head", [("attention", 6, 4), ("position", 3, 7)])
def test_the_row_that_is_asked_about_is_covered_and_the_others_are_the_heads(name, layer, head):
    app, step = asking(name, 1)
    meta, arrays = payload(app, "head_map")
    row = capture(dict(step.parts)["text"]).weights(layer, head).numpy()
    assert np.isnan(arrays["values"][-1]).all()
    assert (arrays["left_out"][-1] == 1).all()
    assert not arrays["left_out"][:-1].any()
    seen = np.tri(len(row) - 1, len(row), dtype=bool)
    np.testing.assert_allclose(arrays["values"][:-1][seen], row[:-1][seen], atol=1e-6)
    assert meta["selected"] == [len(row) - 1, None]
    assert "%" not in meta["texts"]["summary"]  # what is read aloud
    assert meta["texts"]["left_out_label"] == "covered until you answer"


def test_a_click_in_the_covered_row_answers_and_one_in_another_row_does_not():
    app, step = asking("attention", 1)
    row = capture(dict(step.parts)["text"]).weights(6, 4)[-1]
    send(app, "head_map", "cell", [3, 2])
    assert button(app, "lesson_skip")
    send(app, "head_map", "cell", [7, None])  # its label
    assert button(app, "lesson_skip")
    send(app, "head_map", "cell", [7, 5])
    assert not button(app, "lesson_skip")
    assert f"“5 ·squirrel” gets {100 * float(row[5]):.0f} %." in html(app)


def test_a_look_is_judged_by_the_models_own_row():
    app, step = asking("attention", 1)
    row = capture(dict(step.parts)["text"]).weights(6, 4)[-1]
    best = int(row.argmax())
    app.button(key=f"lesson_answer_{best}").click().run()
    assert f"Right: “{best} ·dog”, with {100 * float(row[best]):.0f} %." in html(app)
    app, step = asking("attention", 1)
    app.button(key="lesson_answer_3").click().run()
    assert f"Most goes to “{best} ·dog”: {100 * float(row[best]):.0f} %. “3 ·chased” gets" in html(app)


def test_a_next_token_is_chosen_among_the_likeliest_in_an_order_that_tells_nothing():
    app, step = asking("heads", 2)
    logits = capture(dict(step.parts)["text"]).logits(-1)
    options = [one for one in app.button if (one.key or "").startswith("lesson_answer_")]
    likeliest = {str(token) for token in logits.topk(8).indices.tolist()}
    assert {one.key.removeprefix("lesson_answer_") for one in options} == likeliest
    assert [one.label.casefold() for one in options] == sorted(one.label.casefold() for one in options)


def test_what_a_head_is_worth_is_judged_by_its_ablation():
    app, _step = asking("heads", 3)
    app.button(key="lesson_answer_likelier").click().run()
    assert "No: less likely. The probability is 99.7 % before, 13 % without the head." in html(app)


def test_who_turned_to_something_else_is_not_asked_and_a_skipped_question_is_not_asked_again():
    app, _step = asking("attention", 1)
    app.button(key="lesson_skip").click().run()
    assert "head_map" in components(app)
    app.button(key="lesson_next_here").click().run()
    app.button(key="lesson_back_here").click().run()
    assert "head_map" in components(app)
    app, _step = asking("attention", 1)
    type_text(app, "The king")
    assert "head_map" in components(app)


def test_after_the_last_step_comes_the_next_of_its_kind_and_after_the_last_of_a_kind_nothing():
    for tours, label in ((False, "Next lesson"), (True, "Next tour")):
        group = [one for one in SHIPPED["en"] if one.tour is tours]
        for one, following in zip(group, [*group[1:], None], strict=True):
            app = open_step("en", one, len(one.steps))
            labels = [link.proto.label for link in app.get("page_link")] + [one.label for one in app.button]
            assert (label in labels) == (following is not None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lesson_has_five_to_eight_steps_a_tour_up_to_eighteen_and_a_step_few_words(language):
    """At most 60 words of English, and as much of Chinese as takes as long to read: 130 characters."""
    for lesson in SHIPPED[language]:
        assert len(lesson.steps) in (range(10, 19) if lesson.tour else range(5, 9)), lesson.name
        for step in lesson.steps:
            length = len(step.plain_words.split()) if language == "en" else len(re.sub(r"\s", "", step.plain_words))
            assert length <= (60 if language == "en" else 130), (lesson.name, step.title, length)


def test_every_language_has_the_same_lessons_with_as_many_steps_and_questions_on_the_same_pages():
    outline = {
        language: {one.name: [(step.page, step.question) for step in one.steps] for one in found}
        for language, found in SHIPPED.items()
    }
    kinds = {False: ["attention", "heads", "position", "sampling", "cache"], True: TOURS}
    for tour, names in kinds.items():
        assert [one.name for one in SHIPPED["en"] if one.tour is tour] == names
    assert all(outline[language] == outline["en"] for language in LANGUAGES)
    assert all(any(question for _page, question in steps) for steps in outline["en"].values())
    assert all(one.language == language for language, found in SHIPPED.items() for one in found)
    assert all(
        dict(step.parts)["text"] and step.words for found in SHIPPED.values() for one in found for step in one.steps
    )


def test_a_lesson_is_gone_through_and_closed_and_the_page_stays():
    (lesson,) = (one for one in SHIPPED["en"] if one.name == "attention")
    app = open_step("en", lesson, 1)
    app.button(key="lesson_next_here").click().run()
    assert (app.query_params["step"], app.query_params["query"]) == ("2", "7")
    assert lesson.steps[1].words in [one.value for one in app.markdown]
    type_text(app, "The king")
    assert button(app, "lesson_again_here")
    app.button(key="lesson_again_here").click().run()
    assert not button(app, "lesson_again_here")
    assert app.text_area(key="text_box").value == dict(lesson.steps[1].parts)["text"]
    app.button(key="lesson_back_here").click().run()
    assert "step" not in app.query_params
    app.button(key="lesson_close").click().run()
    assert "lesson" not in app.query_params
    assert app.text_area(key="text_box").value == dict(lesson.steps[0].parts)["text"]


@pytest.mark.parametrize(
    "place, said",
    [
        ({"lesson": "none"}, "There is no lesson “none” here."),
        ({"lesson": "attention", "step": "9"}, "The step is 9; it may be at most 7."),
        ({"lesson": "attention", "step": "x"}, "“x” is not a number for step."),
    ],
)
def test_a_lesson_that_is_not_there_is_one_sentence(place, said):
    app = open_app(**place)
    assert said in "".join(sentences(app))


def test_a_lesson_of_the_hosts_is_there_and_a_broken_one_is_said_while_the_others_stay(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("ATLAS_LESSONS", str(tmp_path))
    good, bad = tmp_path / "en" / "01-mine", tmp_path / "en" / "02-broken"
    for folder in (good, bad):
        folder.mkdir(parents=True)
    step = LessonStep(
        "First", "masks", (("masks.pattern", "window"),), "Look at the **window**.", lesson="My own lesson"
    )
    (good / "01.md").write_text(written(step), "utf-8")
    (bad / "01.md").write_text("---\ntitle: Oh\naddress: /nowhere\n---\nWords.", "utf-8")
    app = open_app(page="pages/masks/page.py", lesson="mine", **dict(step.parts))
    assert step.words in [one.value for one in app.markdown]
    app = open_app(lesson="broken")
    assert "There is no lesson “broken” here." in "".join(sentences(app))


@pytest.mark.parametrize(
    "file, said",
    [
        ("---\ntitle: Oh\naddress: /nowhere\n---\nWords.", "There is no lesson “mine” here."),
        ("no head at all", "There is no lesson “mine” here."),
        ("---\ntitle: Oh\naddress: /masks?masks.pattern=nonsense\n---\nWords.", "nonsense"),
    ],
)
def test_a_step_that_breaks_while_a_class_follows_it_is_one_sentence_and_the_room_goes_on(
    tmp_path: Path, monkeypatch, file, said
):
    monkeypatch.setenv("ATLAS_LESSONS", str(tmp_path))
    folder = tmp_path / "en" / "01-mine"
    folder.mkdir(parents=True)
    steps = [
        LessonStep(f"Step {number}", "masks", (("masks.pattern", "window"),), f"Words {number}.") for number in (1, 2)
    ]
    for number, step in enumerate(steps):
        (folder / f"{number}.md").write_text(written(step), "utf-8")
    app = open_app(page=FILES["masks"], lesson="mine", **dict(steps[0].parts))
    app.button(key="open_room").click().run()
    app.button(key="hide_code").click().run()
    room = app.session_state["room"]
    assert stage(room)["words"] == "Step 1\n\nWords 1."
    (folder / "1.md").write_text(file, "utf-8")
    app.run()
    if button(app, "lesson_next_here"):  # it is a step; what its address says is not
        app.button(key="lesson_next_here").click().run()
    assert [one for one in sentences(app) if said in one] == sentences(app)
    assert len(sentences(app)) == 1
    assert not room.ended
    assert "Words 1." not in stage(room)["words"]
    assert stage(room)["figures"]
    app.button(key="ask_where").click().run()
    assert room.poll is not None
    assert [told["state"] for told in frames(room) if told["kind"] == "poll"] == ["open"]


@pytest.mark.parametrize("name, number", [("attention", 2), ("sampling", 2), ("sampling", 6)])
def test_another_language_changes_the_picture_with_the_words_unless_a_reader_turned_to_something_else(name, number):
    own, other = (next(one for one in SHIPPED[language] if one.name == name) for language in ("en", "zh"))
    app = open_step("en", own, number)
    app.button_group(key="choice_lang").set_value("zh").run()
    step = other.steps[number - 1]
    assert step.words in [one.value for one in app.markdown]
    assert app.text_area(key="text_box").value == dict(step.parts)["text"]
    assert not button(app, "lesson_again_here")
    app.button_group(key="choice_lang").set_value("en").run()
    assert app.text_area(key="text_box").value == dict(own.steps[number - 1].parts)["text"]
    type_text(app, "The king")
    app.button_group(key="choice_lang").set_value("zh").run()
    assert app.text_area(key="text_box").value == "The king"
    assert button(app, "lesson_again_here")
