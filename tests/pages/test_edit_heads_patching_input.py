"""Activation patching: bad input is one sentence, and what is taken away gives the numbers of the map."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from analysis.patching import logit_difference
from model_runner.local.answers.rerun import Rerun
from model_runner.questions import PatchHeads
from pages.edit_heads.patch_export import patch_snippet, patch_tables
from tests.pages.expected import capture, runner
from tests.pages.patch_driving import (
    CLOSE,
    DIFFERENT,
    OTHER,
    PAGE,
    box,
    computed,
    opened,
    setting,
    tokens,
)
from tests.ui.driving import components, local_models, open_app, sentences, until
from tests.ui.taken import ran
from ui.state.url_state import DEFAULT_TEXT

pytestmark = pytest.mark.table  # its tests take a second each

# -- what cannot be ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address, sentence",
    [
        ({"patch_text": "The dog chased the big squirrel while it"}, "This text has 8 tokens, the second 9:"),
        ({"patch_text": DEFAULT_TEXT}, "Both texts have the same tokens, so there is nothing to patch."),
        ({"patch_text": " "}, "The second text is empty. Type a second text with as many tokens as the first: 8."),
        ({"patch_text": ""}, "The second text is empty."),
    ],
)
def test_a_second_text_that_does_not_fit_is_one_sentence_and_a_way_back(address, sentence):
    app = open_app(page=PAGE, heads="patching", **address)
    assert len(sentences(app)) == 1
    assert sentence in sentences(app)[0]
    assert "layer_head_map" not in components(app)
    assert box(app).value == address["patch_text"]
    app.button(key="patch_back").click().run()
    assert box(app).value == OTHER
    assert "edit_heads.text" not in app.query_params


def test_of_a_long_text_the_way_back_says_that_it_goes_on():
    long = "The dog chased the squirrel because it was hungry. " * 3
    app = open_app(page=PAGE, heads="patching", text=long, patch_text="The")
    assert app.button(key="patch_back").label.endswith("…”")


def test_of_what_is_written_from_a_text_no_number_of_tokens_is_asked():
    address = {"model": "translator", "text": "The wolf loves Mary."}
    app = open_app(page=PAGE, heads="patching", patch_text=" ", **address)
    assert sentences(app) == [
        "The second text is empty. Type a second text to be read instead of this one; both keep the same output tokens."
    ]
    assert sentences(open_app(page=PAGE, heads="patching", patch_text="The wolf", **address)) == []


def test_an_emptied_box_is_said_and_not_replaced():
    app = opened()
    box(app).set_value("").run()
    assert "The second text is empty." in sentences(app)[0]
    assert box(app).value == ""


@pytest.mark.parametrize(
    "address, sentence",
    [
        ({"patch_second": "'squirrelish"}, "“squirrelish” is not one token of this model but"),
        ({"patch_first": "99999"}, "There is no token id 99,999: this model and text have"),
        ({"patch_first": "20", "patch_second": "20"}, "whose difference is always 0: “"),
    ],
)
def test_a_token_that_cannot_be_is_one_sentence_and_the_map_stays(address, sentence):
    app = opened(**address)
    assert len(sentences(app)) == 1
    assert sentence in sentences(app)[0]
    assert "layer_head_map" in components(app)


def test_a_text_too_long_for_a_run_a_token_is_one_sentence():
    app = open_app(page=PAGE, heads="patching", text="dog " * 300)
    assert len(sentences(app)) == 1
    assert "offered for texts of up to 256 tokens" in sentences(app)[0]


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("bert", "This model sees the whole text at once"),
        ("bert-base", "This model sees the whole text at once"),
        ("llama-base", "comes without an output layer"),
    ],
)
def test_what_has_no_next_token_to_patch_says_so(folder_of, name, sentence):
    app = open_app(page=PAGE, heads="patching", model=folder_of(name), text="some text")
    assert len(sentences(app)) == 1
    assert sentence in sentences(app)[0]


def test_a_model_whose_layers_cannot_be_left_out_is_one_sentence(monkeypatch):
    monkeypatch.setattr(Rerun, "_agrees", lambda self, found: False)
    loading = local_models().open("default")
    assert loading.wait(60.0)
    monkeypatch.setattr(loading.result().engine, "entered", {})  # what was found without the patch above
    app = open_app(page=PAGE, heads="patching", patch_first="21")
    until(app, sentences)
    assert len(sentences(app)) == 1
    assert "the layers of this model cannot be run by themselves" in sentences(app)[0]


# -- taken away -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["residual", "attention", "heads"])
@pytest.mark.parametrize("reversed", [False, True])
def test_the_snippet_gives_the_numbers_of_the_map(kind, reversed):
    one = setting(kind, reversed=reversed)
    page: Any = SimpleNamespace(capture=capture(), layer=3, head=2)
    found: Any = SimpleNamespace(setting=one)
    names = ran(patch_snippet(page, found))
    np.testing.assert_allclose(names["changes"].numpy(), computed(one), atol=CLOSE)
    assert names["before"] == logit_difference(one.plain, tokens())
    assert names["goal"] == logit_difference(one.other, tokens())


def test_the_tables_hold_the_map_and_what_it_is_of_the_way(monkeypatch):
    monkeypatch.setattr("pages.edit_heads.patch_export._", str)  # outside a session there is no language
    one = setting()
    values = computed(one)
    found: Any = SimpleNamespace(setting=one, found=one.map_of(list(values[::-1])))
    page: Any = SimpleNamespace(runner=runner())
    first, second, third = patch_tables(page, found).values()
    np.testing.assert_allclose(first.to_numpy(), values, atol=CLOSE)
    assert (first.to_numpy()[:, :DIFFERENT] == 0).all()  # rounding is no number of the model's
    assert second.loc["L0", f"{DIFFERENT} ·squirrel"] == pytest.approx(1.0, abs=1e-4)
    assert third.iloc[:, 0].max() == pytest.approx(float(torch.softmax(capture().logits(-1), -1).max()), rel=1e-5)


def test_one_head_of_many_is_less_than_all_of_them():
    plain, other = capture().request, capture(OTHER).request
    found = runner().submit(PatchHeads(plain, other, 6, 1, tokens())).result()
    every = runner().submit(PatchHeads(plain, other, 6, None, tokens())).result()
    assert (found - every).abs().max() > CLOSE
