"""Compare: what cannot be is one sentence and the rest stays; B's model is under the rules of who hosts the app."""

from __future__ import annotations

import pytest

from analysis.head_map import head_map
from model_runner import Capture, Check
from model_runner.errors import ModelNotListed
from tests.pages.expected import capture
from tests.pages.test_compare import BOOK, PAGE, maps, same
from tests.ui.driving import button, components, html, local_models, open_app, sentences
from ui.shared import cached
from ui.state import session


@pytest.mark.parametrize(
    "address, sentence, stays",
    [
        ({"compare.head": "L99H0"}, "There is no head L99H0 to compare with.", 3),
        ({"compare.head": "<b>"}, "There is no head <b> to compare with.", 3),
        ({"compare.model": "/no/such/folder"}, "B: ", 0),
        (
            {"compare.model": "some/model"},
            "B: The model some/model is not on this machine, and only a link",
            0,
        ),
        ({"compare.text": "x" * 1501}, "The text of B has more than 1500 characters.", 3),
        ({"compare.text": " \n "}, "B: There is no text to look at.", 0),
        ({"compare.view": "films"}, "“films” is not an option for view.", 3),
    ],
)
def test_what_cannot_be_is_one_sentence_and_the_rest_stays(address, sentence, stays):
    app = open_app(page=PAGE, **address)
    assert len(sentences(app)) == 1
    assert sentence in sentences(app)[0].replace("\\", "")
    assert components(app).count("head_map") == stays
    assert app.selectbox(key="compare.model").value == address.get("compare.model", "")
    assert "atlas-badge ok" in html(app)
    assert button(app, "fetch_other") is (address.get("compare.model") == "some/model")


def test_texts_without_a_common_word_and_texts_that_are_too_long_have_no_difference():
    app = open_app(page=PAGE, text="a b", **{"compare.text": "c d"})
    assert sentences(app) == ["The two texts have no word in common: there is no difference to draw."]
    assert len(maps(app)) == 2
    assert "of attention elsewhere" not in html(app)
    long = "One day a cat saw the moon and " * 40
    app = open_app(page=PAGE, **{"compare.text": long})
    words = f"Maps are compared for texts of up to 256 tokens; here one has {len(capture(long).tokens)}."
    assert sentences(app) == [words]


@pytest.mark.parametrize("text", ["😀 it", "nan it", "狗, because"])
@pytest.mark.parametrize("view", ["maps", "metrics", "next", "tokens"])
def test_any_text_of_b_is_compared(text, view):
    app = open_app(page=PAGE, **{"compare.text": text, "compare.view": view})
    assert sentences(app) == []


def test_an_emptied_text_is_the_same_text_again():
    app = open_app(page=PAGE, **{"compare.text": BOOK})
    app.text_input(key="compare.text").set_value(" ").run()
    assert "compare.text" not in app.query_params
    same(maps(app)[1][1], head_map(capture(), 3, 7).values)


def test_a_layer_of_b_that_fails_its_check_is_not_drawn(monkeypatch):
    real = Capture.verify

    def verify(self, layer: int) -> Check:
        return Check(0.5, 1e-6, False, 9, 9) if layer == 2 else real(self, layer)

    monkeypatch.setattr(Capture, "verify", verify)
    cached._check.clear()
    try:
        app = open_app(page=PAGE, **{"compare.head": "L2H5"})
        assert ["B: Layer 2 is not drawn" in one for one in sentences(app)] == [True]
        assert "head_map" not in components(app)
    finally:
        cached._check.clear()


# -- the rules of who hosts it ----------------------------------------------------------------------------------------


def test_where_models_are_listed_b_offers_these_alone_and_loads_no_other(monkeypatch):
    monkeypatch.setenv("ATLAS_MODELS", "default, encoder")
    session.model_cache.clear()
    try:
        app = open_app(page=PAGE)
        box = app.selectbox(key="compare.model")
        assert box.options == ["the same model", "Embedded small Llama", "Embedded encoder"]
        assert not box.proto.accept_new_options
        app = open_app(page=PAGE, **{"compare.model": "openai-community/gpt2"})
        assert ModelNotListed.message.split("{")[0] in sentences(app)[0].replace("\\", "")
        assert [asked.name for asked in local_models()._held] == ["default"]
    finally:
        session.model_cache.clear()


@pytest.mark.long
def test_a_model_of_b_is_held_beside_that_of_a_and_no_third(folder_of):
    session.model_cache.clear()
    try:
        for other in ("encoder", folder_of("bert-base"), "encoder"):
            open_app(page=PAGE, **{"compare.model": other})
            assert {asked.name for asked in local_models()._held} == {"default", other}
    finally:
        session.model_cache.clear()


@pytest.mark.long
def test_what_a_model_is_going_to_be_stands_there_until_it_is_loaded_whatever_is_said(folder_of, monkeypatch):
    shown = "its family can be captured"
    assert shown not in html(open_app(page=PAGE, model=folder_of("whisper")))
    assert shown not in html(open_app(page="pages/long_texts/page.py", model=folder_of("opt"), text="long " * 2000))
    monkeypatch.setattr("model_runner.memory.available", lambda _device: 1_000)
    assert shown in html(open_app(model=folder_of("llama")))
