"""The languages of a translator are chosen by name in the sidebar, and what cuts a text stands there."""

from __future__ import annotations

import pytest

from model_runner import CaptureRequest, load_runner
from pages.compare.other import request_of
from tests.model_runner.piece_folders import piece_folder
from tests.ui.driving import beside_head, html, open_app, payload, sentences
from ui.shell.page import PageContext
from ui.wording.language_names import named

TEXT = "The dog"


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(piece_folder("m2m", tmp_path_factory.mktemp("m2m")))


def test_languages_are_chosen_in_boxes_and_read_and_written(translator):
    app = open_app(model=translator, text=TEXT, target="a dog")
    source, target = app.selectbox(key="source_language"), app.selectbox(key="target_language")
    assert (source.value, target.value) == ("", "")
    assert source.options[0] == "English (en), by its folder"
    assert target.options[0] == "none, by its folder"
    assert [box.proto.label_visibility.value for box in (source, target)] == [0, 0]  # which of the two is which
    assert (source.label, target.label) == ("Source language", "Target language")
    assert len(source.options) == 101
    target.set_value("de").run()
    app.selectbox(key="source_language").set_value("fr").run()
    assert sentences(app) == []
    assert beside_head(app)["target_language"] == "de"
    assert beside_head(app)["source_language"] == "fr"
    chosen = CaptureRequest(TEXT, target="a dog", source_language="fr", target_language="de")
    own = load_runner(translator, device="cpu").capture(chosen)
    read, written = ([token.text for token in own.attention(name).tokens] for name in ("encoder", "decoder"))
    assert (read[0], written[1]) == ("⟨__fr__⟩", "⟨__de__⟩")
    drawn = str(payload(app, "head_map")[0])
    assert all(repr(text) in drawn for text in (*read, *written))


def test_another_model_has_other_languages(translator):
    app = open_app(model=translator, text=TEXT, target_language="de")
    app.selectbox(key="model_box").set_value("default").run()
    assert not [box for box in app.selectbox if box.key in ("source_language", "target_language")]
    assert "target_language" not in beside_head(app)


def test_a_language_of_the_address_that_there_is_not_is_one_sentence(translator):
    app = open_app(model=translator, text=TEXT, target_language="xx")
    assert [words for words in sentences(app) if "has no language “xx”" in words]
    assert len(sentences(app)) == 1
    app.selectbox(key="target_language").set_value("de").run()
    assert sentences(app) == []


def test_names_of_languages_are_those_of_the_interface(translator):
    app = open_app(model=translator, text=TEXT, lang="zh")
    options = app.selectbox(key="target_language").options
    assert options[0] == "无（按模型文件夹）"
    assert "法语 (fr)" in options
    assert "德语 (de)" in options


def test_twi_is_not_named_as_the_language_that_stands_beside_it(monkeypatch):
    monkeypatch.setattr("ui.wording.language_names.language", lambda: "en")
    assert (named("twi_Latn"), named("aka_Latn")) == ("Twi, Latin (twi_Latn)", "Akan, Latin (aka_Latn)")


def test_the_card_says_what_cuts_the_text(translator):
    app = open_app(model=translator, text=TEXT)
    assert "SentencePiece, by the file sentencepiece.bpe.model, with the ids of the class M2M100Tokenizer." in html(app)
    assert "It has tokens for 100 languages." in html(app)
    assert "tokenizer.json as it is." in html(open_app(text=TEXT))
    assert "直接按 tokenizer.json 切分。" in html(open_app(text=TEXT, lang="zh"))


def test_b_of_compare_translates_between_the_languages_of_a_as_far_as_it_has_them(translator, tmp_path):
    runner, again = (load_runner(translator, device="cpu") for _ in range(2))
    asked = CaptureRequest(TEXT, target="a dog", source_language="fr", target_language="de")
    opened = PageContext(runner, runner.capture(asked), 0, 0, None, None)
    found = request_of(opened, again, "")
    assert (found.source_language, found.target_language) == ("fr", "de")
    assert again.capture(found).attention("encoder").tokens[0].text == "⟨__fr__⟩"
    other = request_of(opened, load_runner(str(piece_folder("mbart", tmp_path)), device="cpu"), "")
    assert (other.source_language, other.target_language) == (None, None)
