"""A step recorded from what a page shows, put into a folder of lessons, and opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from lessons.step import read
from pages.entries import ENTRIES
from tests.ui.driving import button, go, open_app, sentences
from ui.state.url_state import DEFAULT_TEXT
from ui.wording.i18n import catalog

FILES = {entry.address: entry.file for entry in ENTRIES}
TEXT = "one two three one two three one two & \n“three”"
WORDS = "Look at the **last** token:\n\n- its row\n- `its` key"
RECORDED = {
    "": {"text": TEXT, "layer": "3", "head": "7", "query": "5", "key": "2", "heads.metric": "entropy"},
    "masks": {"masks.pattern": "bigbird", "masks.reach": "3", "masks.hidden": "7.2-5.1"},
    "sharing": {
        "text": TEXT,
        "model": "encoder",
        "layer": "1",
        "head": "1",
        "edits": "MeanHead(2,2)",
        "everywhere": "1",
    },
}


@pytest.fixture
def saved(monkeypatch) -> dict[str, str]:
    """What was offered for download: file name → text."""
    kept: dict[str, str] = {}
    offered = st.download_button

    def keep(label: str, data: Any, name: str, *more: Any, **options: Any) -> bool:
        if isinstance(data, str):
            kept[name] = data
        return offered(label, data, name, *more, **options)

    monkeypatch.setattr(st, "download_button", keep)
    return kept


def menu(app: AppTest) -> AppTest:
    """With the list of lessons open."""
    at = app.query_params
    app.session_state[f"lessons_{''.join(at.get('lesson', ''))}_{''.join(at.get('step', '1'))}"] = True
    app.run()
    return app


def record(app: AppTest, title: str, words: str, *, question: str = "", lang: str = "en") -> None:
    if not button(app, "end_room"):
        app.button(key="open_room").click().run()
        app.button(key="hide_code").click().run()
    app.session_state["record_step_menu"] = True
    app.run()
    app.text_input(key="record_title").set_value(title)
    app.text_area(key="record_words").set_value(words)
    app.selectbox(key="record_question").set_value(question)
    label = catalog(lang).gettext("Record a step")
    next(one for one in app.button if one.label == label).click().run()


def place(app: AppTest) -> dict[str, str]:
    """The address, without the lesson."""
    held = {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}
    return {name: value for name, value in held.items() if name not in ("lesson", "step", "lang")}


@pytest.mark.parametrize("page", RECORDED)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_recorded_step_opens_the_same_address_with_its_words(tmp_path: Path, monkeypatch, saved, page, lang):
    app = open_app(page=FILES[page], lang=lang, **RECORDED[page])
    shown = place(app)
    assert RECORDED[page].items() <= shown.items()
    record(app, "Heads & rows: <one>", WORDS, question="where", lang=lang)
    assert sentences(app) == []
    ((name, text),) = saved.items()
    assert name == "heads-rows-one.md"
    step = read(text, FILES)
    assert (step.title, step.page, step.words, step.question) == ("Heads & rows: <one>", page, WORDS, "where")

    folder = tmp_path / lang / "01-mine"
    folder.mkdir(parents=True)
    (folder / name).write_text(text, "utf-8")
    monkeypatch.setenv("ATLAS_LESSONS", str(tmp_path))
    again = open_app(page=FILES[page], lang=lang, lesson="mine", **dict(step.parts))
    assert sentences(again) == []
    assert place(again) == shown
    assert step.words in [one.value for one in again.markdown]
    assert not button(again, "lesson_again_here")
    for usual in (again, open_app(page=FILES[page], lang=lang, text="The king")):  # from the list, whatever was there
        menu(usual)
        usual.button(key="lesson_mine_here").click().run()
        assert place(usual) == shown
        assert usual.session_state["text"] == RECORDED[page].get("text", DEFAULT_TEXT)
        assert not button(usual, "lesson_again_here")


def test_only_who_teaches_a_class_can_record_a_step():
    app = menu(open_app(lesson="attention"))
    app.session_state["record_step_menu"] = True
    app.run()
    assert not [one for one in app.text_input if one.key == "record_title"]
    record(app, "Own", "Words.")
    app.button(key="end_room").click().run()
    assert not [one for one in app.text_input if one.key == "record_title"]


def test_a_step_of_a_lesson_that_is_open_is_recorded_without_it_and_in_nobodys_language(saved):
    app = open_app(lang="zh", lesson="attention")
    go(app, FILES["cell"])
    assert app.query_params["lesson"]
    record(app, "Own", "Words.", lang="zh")
    parts = dict(read(saved["own.md"], FILES).parts)
    assert not {"lesson", "step", "lang", "room"} & parts.keys()


@pytest.mark.parametrize(
    "title, words, said",
    [
        ("", "Words.", "A step has a title and words."),
        ("Title", "  ", "A step has a title and words."),
        ("Title", "![](http://example.org/x.png)", "picture or HTML in its words"),
        ("Title", "<b>bold</b>", "picture or HTML in its words"),
    ],
)
def test_what_is_no_step_is_one_sentence_and_no_file(saved, title, words, said):
    app = open_app()
    record(app, title, words)
    assert [said in one for one in sentences(app)] == [True]
    assert saved == {}
