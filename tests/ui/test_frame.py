"""The frame: every entry leads to a page that exists, and what the frame offers works before any model is loaded."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ui.driving import ROOT, html, no_failure, open_app, send
from ui.examples import EXAMPLES, WELL_KNOWN_MODELS
from ui.frame import ENTRIES


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.file)
def test_an_entry_leads_to_a_file(entry):
    assert (ROOT / entry.file).is_file()


def test_every_page_has_an_entry():
    assert {entry.file for entry in ENTRIES} == {f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")}


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


def test_the_frame_is_drawn_without_the_engine():
    # A new process, for this one has long imported torch. What the frame imports, the first paint waits for.
    code = "import sys, ui.frame; sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_an_example_goes_into_the_box_and_is_read():
    app = open_app()
    app.button(key="example_1").click()
    app.run()
    no_failure(app)
    assert app.text_area(key="text_box").value == EXAMPLES[1].text
    assert app.query_params == {"text": EXAMPLES[1].text}


def test_an_example_wins_over_what_was_typed_and_is_told_in_the_same_run():
    app = open_app()
    app.text_area(key="text_box").set_value("half a sent")
    app.button(key="example_1").click()
    app.run()
    assert app.text_area(key="text_box").value == app.session_state["text"] == EXAMPLES[1].text


def test_a_model_of_the_address_can_be_chosen_again():
    app = open_app(model="/no/such/folder")
    assert app.selectbox(key="model_box").value == "/no/such/folder"
    assert app.selectbox(key="model_box").options[1:] == ["/no/such/folder", *WELL_KNOWN_MODELS]
    app.selectbox(key="model_box").set_value("default")
    app.run()
    no_failure(app)
    assert app.query_params == {}
    assert "atlas-badge ok" in html(app)


def test_another_language_keeps_model_text_and_place():
    app = open_app(text="The capital of France is", layer="3", head="2")
    app.button_group(key="choice_lang").set_value("zh")
    app.run()
    no_failure(app)
    assert app.query_params == {"text": "The capital of France is", "layer": "3", "head": "2", "lang": "zh"}
    assert app.session_state["model"] == "default"
    assert "北京" not in app.text_area(key="text_box").value


def test_a_page_opened_at_its_own_address_gets_the_frame(tmp_path):
    # Streamlit runs a file of a folder named pages by itself in the first session of a server, see begin_with_frame;
    # AppTest starts every run as such a first session, with the page chosen.
    app = open_app(page="pages/cell.py")
    no_failure(app)
    assert "atlas-title" in html(app)
    assert send(app, "token_strip", "token", 2).text_area(key="text_box").value


@pytest.mark.parametrize("page", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.name)
def test_every_page_asks_for_the_frame_before_it_imports_the_engine(page):
    _doc, first, second, *_rest = ast.parse(page.read_text(encoding="utf-8")).body
    assert (ast.unparse(first), ast.unparse(second)) == (
        "from ui.frame import begin_with_frame",
        "begin_with_frame()",
    )


def test_style_has_no_rule_for_a_name_that_no_one_uses():
    css = (ROOT / "ui" / "frame.css").read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in _python())
    keys = {part.split()[0].rstrip(",:)>{") for part in css.split(".st-key-")[1:]}
    assert {key for key in keys if f'"{key}"' not in sources and not key.startswith(("choice_", "slot_"))} == set()


def _python() -> list[Path]:
    return [ROOT / "app.py", *(ROOT / "ui").glob("*.py"), *(ROOT / "pages").glob("*.py")]
