"""The frame: every entry links to an existing page, and the frame works before a model is loaded."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates

from analysis.examples import EXAMPLES, OF_MODEL, examples_of
from analysis.stories import evidence_of
from model_runner import Capture, Check
from pages.entries import ENTRIES
from tests.ui.driving import PATIENCE, ROOT, App, beside_head, html, open_app, send, sentences, type_text
from ui.shared import cached
from ui.shell.models_offered import WELL_KNOWN
from ui.state import session
from ui.state.inputs import ECHO
from ui.state.url_state import DEFAULT_TEXT


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.file)
def test_an_entry_leads_to_a_file(entry):
    assert (ROOT / entry.file).is_file()


def test_every_page_has_an_entry():
    assert {entry.file for entry in ENTRIES} == {
        str(path.relative_to(ROOT)) for path in (ROOT / "pages").glob("*/page.py")
    }


@pytest.mark.parametrize("part", ["file", "address", "name", "title"])
def test_no_two_entries_share(part):
    values = [getattr(entry, part) for entry in ENTRIES]
    assert len(set(values)) == len(values)


def test_the_first_entry_is_the_page_of_the_bare_address():
    assert [entry.address for entry in ENTRIES].index("") == 0


def test_entries_of_a_section_stand_together():
    sections = [entry.section for entry in ENTRIES]
    changes = [section for before, section in zip(["", *sections], sections, strict=False) if before != section]
    assert len(changes) == len(set(sections))


def test_an_example_goes_into_the_box_and_is_read():
    app = open_app()
    app.button(key="example_2").click()
    app.run()
    assert app.text_area(key="text_box").value == EXAMPLES[2].text
    assert beside_head(app) == {"text": EXAMPLES[2].text}


def test_an_example_wins_over_what_was_typed_and_is_told_in_the_same_run():
    app = open_app()
    app.text_area(key="text_box").set_value("half a sent")
    app.button(key="example_1").click()
    app.run()
    assert app.text_area(key="text_box").value == app.session_state["text"] == EXAMPLES[1].text


@pytest.mark.parametrize("before", [{}, {"text": "It was here before"}], ids=["usual", "own"])
def test_an_example_is_read_although_another_click_comes_before_the_browser_has_heard_of_it(before):
    app = open_app(**before)
    shown = app.text_area(key="text_box").value
    app.button(key="example_1").click().run()
    app.number_input(key=ECHO).set_value(0)  # a browser that has not drawn that run
    app.text_area(key="text_box").set_value(shown).run()
    assert app.text_area(key="text_box").value == app.session_state["text"] == EXAMPLES[1].text
    app.text_area(key="text_box").set_value(shown).run()  # now it has heard: its reader wants the old one
    assert app.text_area(key="text_box").value == app.session_state["text"] == shown


def test_the_usual_text_is_read_when_it_is_typed_over_one_that_no_address_holds():
    app = open_app()
    box = app.text_area(key="text_box").set_value(Random(0).randbytes(5000).hex()).run().text_area(key="text_box")
    box.set_value(DEFAULT_TEXT).run()
    assert app.session_state["text"] == DEFAULT_TEXT


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_first_visit_opens_on_a_story_that_says_why(lang):
    text = examples_of("default", lang)[0].text
    evidence = evidence_of("default", text)
    assert evidence is not None
    assert evidence.told == "why"
    app = open_app(first_visit=True, **({} if lang == "en" else {"lang": lang}))
    assert app.text_area(key="text_box").value == text
    assert dict(app.query_params)["text"] in (text, [text])  # a copied link shows the same
    layer, head = evidence.heads[0]
    assert f"L{layer}H{head}" in html(app)


@pytest.mark.parametrize("lang, topic", [("en", "translation"), ("zh", "翻译")])
def test_the_example_of_a_translation_opens_the_model_that_translates(lang, topic):
    app = open_app(lang=lang)
    next(button for button in app.button if button.label == topic).click().run()
    text = app.text_area(key="text_box").value
    assert text.isascii() is (lang == "en")
    assert text in {example.text for example in OF_MODEL["translator"]}
    assert app.selectbox(key="model_box").value == "translator"
    assert {"en": "Embedded translator", "zh": "内置翻译模型"}[lang] in app.toast[0].value
    assert beside_head(app) == {"lang": lang, "model": "translator", "text": text}
    assert topic not in {button.label for button in app.button}


@pytest.mark.parametrize("size, said", [(2000, False), (5000, True)])
def test_a_text_that_the_address_cannot_hold_is_said_beside_its_box(size, said):
    app = type_text(open_app(), Random(0).randbytes(size).hex())
    assert ("This text is too long to fit in the link" in html(app)) is said


def test_a_pasted_address_is_its_model_and_a_long_folder_shows_its_end():
    app = open_app(model="https://huggingface.co/no-such/model/tree/main")
    assert app.selectbox(key="model_box").value == "no-such/model"
    folder = "/no/such/folder/of/anybody/models/tiny"
    app = open_app(model=folder)
    assert (app.session_state["model"], app.selectbox(key="model_box").value) == (folder, folder)
    assert "…/of/anybody/models/tiny" in app.selectbox(key="model_box").options


def test_a_model_of_the_address_can_be_chosen_again():
    app = open_app(model="/no/such/folder")
    assert app.selectbox(key="model_box").value == "/no/such/folder"
    assert app.selectbox(key="model_box").options[3:] == ["/no/such/folder", *WELL_KNOWN]
    app.selectbox(key="model_box").set_value("default")
    app.run()
    assert beside_head(app) == {"text": EXAMPLES[0].text}  # no text was named
    assert "atlas-badge ok" in html(app)


def test_a_server_with_a_list_of_models_offers_and_shows_these_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("ATLAS_MODELS", "default, owner/name")
    session.model_cache.clear()
    try:
        app = open_app()
        assert app.selectbox(key="model_box").options == ["Embedded small Llama", "owner/name"]
        assert "translator" not in app.selectbox(key="model_box").help
        assert "translation" not in {button.label for button in app.button}
        assert not app.selectbox(key="model_box").proto.accept_new_options
        assert "dtype" not in {group.key for group in app.button_group}
        assert "· float32</span>" in html(open_app(dtype="bfloat16"))  # one way to load each
        said = {sentences(open_app(model=name))[0] for name in ("/etc", "/etc/nosuch", "~root", "a/b", str(tmp_path))}
        assert said == {"This server offers only these models: default, owner/name. Choose one of them."}
    finally:
        session.model_cache.clear()


def test_the_hub_is_asked_for_what_an_address_names_only_once_its_reader_wants_it(monkeypatch):
    asked = []

    def ask(name, *_, local_files_only=False, **__):
        asked.extend([] if local_files_only else [name])
        raise OSError("not there")

    monkeypatch.setattr("model_runner.local.loading.hub.snapshot_download", ask)
    app = open_app(model="owner/name")
    assert sentences(app)[0].startswith("The model owner/name is not on this machine, and only a link names it.")
    assert asked == []
    app.button(key="fetch_model").click()
    app.run()
    assert asked == ["owner/name"]
    assert sentences(app)[0].startswith("The hub cannot be reached, and owner/name is not on this machine yet.")


def test_a_model_chosen_in_the_box_is_asked_for_at_once():
    app = open_app()
    app.selectbox(key="model_box").set_value(WELL_KNOWN[0])
    app.run()
    assert sentences(app)[0].startswith("The hub cannot be reached")


def test_what_an_address_says_and_cannot_be_is_in_no_link():
    app = open_app(layer="abc", key="--5", **{"heads.metric": "nonsense"})
    assert len(sentences(app)) == 2
    links = [element.proto for element in app.get("page_link")]
    assert len(links) == len(ENTRIES)
    assert {link.query_string for link in links} == {urlencode(app.query_params)}
    assert "layer=0" not in app.query_params
    assert "abc" not in links[0].query_string


def test_what_a_browser_still_shows_after_a_restart_of_the_server_is_the_text():
    before = open_app()
    state = next(one for one in before._tree.get_widget_states().widgets if "text_box" in one.id)
    for typed in ("typed while it was down", "word " * 320):
        fresh = App(ROOT / "ui" / "shell" / "entry" / "atlas.py", default_timeout=PATIENCE)
        state.string_value = typed
        fresh._run(WidgetStates(widgets=[state]))
        assert fresh.session_state["text"] == typed


def test_another_language_keeps_model_text_and_place():
    app = open_app(text="The capital of France is", layer="3", head="2")
    app.button_group(key="choice_lang").set_value("zh")
    app.run()
    assert app.query_params == {"text": "The capital of France is", "layer": "3", "head": "2", "lang": "zh"}
    assert app.session_state["model"] == "default"
    assert "北京" not in app.text_area(key="text_box").value


def test_a_page_opened_at_its_own_address_gets_the_frame():
    app = open_app(page="pages/cell/page.py")
    assert "atlas-title" in html(app)
    assert send(app, "token_strip", "token", 2).text_area(key="text_box").value


def test_style_has_no_rule_for_a_name_that_no_one_uses():
    css = (ROOT / "ui" / "shell" / "frame.css").read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in _python())
    keys = set(re.findall(r"\.st-key-([\w-]+)", css))
    named = {key for key in keys if f'"{key}"' in sources or key.startswith(("choice_", "slot_"))}
    parts = {key: key.partition("-") for key in keys - named}  # of a page's state: its scope, and a field
    fields = {key for key, (scope, _, field) in parts.items() if f'"{scope}"' in sources and f" {field}: " in sources}
    assert keys - named - fields == set()


def _python() -> list[Path]:
    return [ROOT / "app.py", *(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]


def test_the_badge_says_that_rows_were_sampled_and_how_many(monkeypatch):
    monkeypatch.setattr(Capture, "verify", lambda *_: Check(5e-7, 1e-6, True, 256, 16_384))
    cached._check.clear()
    try:
        said = html(open_app())
    finally:
        cached._check.clear()
    assert "verified · max diff 5e−7 · float32 · 256 of 16,384 rows" in re.sub("<[^>]*>", "", said)
    assert "recomputed here for 256 of the 16,384 queries of layer" in said
