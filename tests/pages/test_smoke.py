"""Every page of the navigation opens on the embedded model, checked; in other languages:
tests/ui/wording/test_words.py.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

import pytest

from pages.entries import ENTRIES
from tests.ui.driving import html, open_app, sentences, type_text
from ui.shared import cached

pytestmark = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.file)


def test_a_page_opens_with_its_title_its_components_and_its_check_and_shows_the_text_that_is_typed(entry):
    app = open_app(page=entry.file)
    assert sentences(app) == []
    assert f"<h1 class='atlas-title'>{entry.title} " in html(app)
    assert re.search(
        r"atlas-badge ok'[^>]*>verified<span class='more'> · [^<]*\de−\d+ · float32( · [^<]*)?<", html(app)
    )
    assert len(app.get("bidi_component")) > 1
    type_text(app, "The capital of France is")
    assert app.query_params["text"] == "The capital of France is"
    assert "atlas-badge ok" in html(app)


@pytest.mark.table
@pytest.mark.parametrize("text", [pytest.param("a", marks=pytest.mark.long), "😀"])
def test_a_page_opens_on_texts_of_one_token_and_of_one_character(entry, text):
    app = open_app(page=entry.file, text=text)
    assert "atlas-badge ok" in html(app)


def test_every_head_can_be_opened(entry):
    for place in ({"layer": "0", "head": "7"}, {"layer": "-1", "head": "-8"}):
        app = open_app(page=entry.file, **place)
        assert sentences(app) == []


def test_a_layer_that_fails_its_check_is_not_drawn(entry, monkeypatch):
    from model_runner import Capture, Check

    monkeypatch.setattr(Capture, "verify", lambda *_: Check(0.5, 1e-6, False, 9, 9))
    cached._check.clear()
    try:
        app = open_app(page=entry.file, layer="3")
        assert any("Layer 3 is not drawn" in sentence and "5e−1" in sentence for sentence in sentences(app))
        assert {"head_map", "head_grid", "token_lines", "cell_steps"}.isdisjoint(
            element.proto.component_name for element in app.get("bidi_component")
        )
    finally:
        cached._check.clear()


def test_a_link_to_a_page_holds_the_whole_address(entry):
    app = open_app(page=entry.file, layer="3", head="1", what="scores")
    links = [element.proto for element in app.get("page_link")]
    assert len(links) >= len(ENTRIES)
    for link in links:
        assert dict(parse_qsl(link.query_string)) == {"layer": "3", "head": "1", "heads.what": "scores"}, link.label
