"""The embedded encoder: texts with hidden words, in which every token looks both ways; pages: test_every_model.py."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.examples import OF_MODEL, examples_of
from tests.pages.test_families_sentences import A, B, by_transformers
from tests.ui.driving import beside_head, html, open_app, payload

TEXT = OF_MODEL["encoder"][0].text

pytestmark = pytest.mark.table  # every page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_its_examples_come_with_it_in_the_readers_language_first(lang):
    app = open_app(lang=lang, model="encoder")
    first = examples_of("encoder", lang)[0]
    assert first.text.isascii() is (lang == "en")
    app.button(key="example_0").click().run()
    assert app.text_area(key="text_box").value == first.text
    assert beside_head(app) == {"lang": lang, "model": "encoder", "text": first.text}
    assert "⟨MASK⟩" in payload(app, "token_strip")[0]["labels"]


def test_it_opens_at_the_hidden_word_and_guesses_it():
    app = open_app(model="encoder", text=TEXT)
    meta, _ = payload(app, "token_strip")
    assert meta["labels"][meta["selected"]] == "⟨MASK⟩"
    page = html(app)
    assert f"Token at {meta['selected']}" in page
    assert "in place of ⟨MASK⟩" in page
    assert page.index("·Wednesday") < page.index("all other tokens")
    assert "looking both ways" in page
    last = open_app(model="encoder", text=TEXT, query=str(len(meta["labels"]) - 1))
    assert payload(last, "token_strip")[0]["selected"] == len(meta["labels"]) - 1


def test_two_sentences_have_the_map_and_the_guess_that_transformers_reads_with_their_types():
    _types, weights, guesses = by_transformers()
    app = open_app(model="encoder", text=f"{A}[SEP]{B}", layer="1", head="2")
    np.testing.assert_allclose(payload(app, "head_map")[1]["values"], weights, atol=1e-3)
    page = html(app)
    assert "atlas-badge ok" in page
    assert all(one.replace("<", "&lt;") in page for one in guesses)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_example_of_the_model_before_becomes_one_of_its_own_and_any_other_text_stays(lang):
    app = open_app(lang=lang)
    app.selectbox(key="model_box").set_value("encoder").run()
    first = examples_of("encoder", lang)[0].text
    assert app.text_area(key="text_box").value == first
    assert beside_head(app) == {"lang": lang, "model": "encoder", "text": first}
    app.selectbox(key="model_box").set_value("default").run()
    assert app.text_area(key="text_box").value == examples_of("default", lang)[0].text
    app = open_app(lang=lang, text="my own [MASK]")
    app.selectbox(key="model_box").set_value("encoder").run()
    assert app.text_area(key="text_box").value == "my own [MASK]"
