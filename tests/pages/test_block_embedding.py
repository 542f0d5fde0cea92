"""The embedding on the page The block: the table's own numbers, neighbours to go to, and words that are no token."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model_runner import CaptureRequest
from model_runner.block_questions import EmbeddingRow
from tests.pages.expected import capture, runner
from tests.pages.shown import words
from tests.ui.driving import html, open_app, payload, send, sentences
from tests.ui.taken import offers, ran
from ui.state.url_state import DEFAULT_TEXT

PAGE = "pages/block/page.py"
VIEW = {"block.view": "embedding"}


def test_the_chosen_tokens_row_is_the_tables_and_enters_the_first_layer():
    app = open_app(page=PAGE, query="3", **VIEW)
    token = capture().tokens[3]
    meta, arrays = payload(app, "model_stages")
    table = runner().engine.model.state_dict()["model.embed_tokens.weight"]
    for row in arrays["vectors"][:2]:
        np.testing.assert_allclose(row, table[token.id].numpy(), atol=1e-6)
    assert [row["title"] for row in meta["rows"][:2]] == [token.text, "what enters L0"]
    assert meta["rows"][1]["size"] == "the row as it is"
    found = runner().submit(EmbeddingRow(CaptureRequest(DEFAULT_TEXT), token.id)).result()
    assert [row["block"] for row in meta["rows"][2:]] == found.nearest.tolist()
    assert f"is row {token.id:,} of {len(table):,}" in html(app)
    assert f"<th>{token.id}</th><td>1</td>" in html(app)


def test_a_neighbour_is_gone_to_and_a_token_of_the_text_comes_back(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, query="3", **VIEW)
    near = payload(app, "model_stages")[0]["rows"][2]["block"]
    app = send(app, "model_stages", "block", near)
    assert app.query_params["block.token"] == str(near)
    meta, _arrays = payload(app, "model_stages")
    assert meta["rows"][0]["module"] == f"id {near}"
    assert "what enters L0" not in [row["title"] for row in meta["rows"]]
    assert ran(taken[-1].snippet)["row"].token == near
    np.testing.assert_allclose(taken[-1].arrays["vector"], runner().engine.model.model.embed_tokens.weight[near])
    app = send(app, "token_strip", "token", 2)
    assert "block.token" not in app.query_params
    assert payload(app, "model_stages")[0]["rows"][0]["module"] == f"id {capture().tokens[2].id}"


@pytest.mark.parametrize("typed, token", [("because", "·because"), ("·dog", "·dog"), ("the", "the")])
def test_a_typed_word_is_looked_up_with_a_space_where_the_vocabulary_has_it_so(typed: str, token: str):
    row = payload(open_app(page=PAGE, **VIEW, **{"block.word": typed}), "model_stages")[0]["rows"][0]
    assert runner().token_text(int(row["module"].removeprefix("id "))) == token


@pytest.mark.parametrize(
    "typed, sentence",
    [
        ({"block.word": "xylophonists"}, "is not one token of this model but"),
        ({"block.word": "<b>&\"'"}, "is not one token of this model but"),
        ({"block.token": "999999"}, "no token id 999,999"),
        ({"block.token": "-1"}, "-1"),
    ],
)
def test_what_is_no_token_is_one_sentence_and_the_texts_own_is_shown(typed, sentence):
    app = open_app(page=PAGE, query="3", **VIEW, **typed)
    (said,) = sentences(app)
    assert sentence in said.replace("\\", "")
    assert payload(app, "model_stages")[0]["rows"][0]["module"] == f"id {capture().tokens[3].id}"
    if "block.word" in typed:
        (box,) = [one for one in app.text_input if one.key.startswith("block.word")]
        assert box.value == typed["block.word"]


@pytest.mark.parametrize("model, attention", [("translator", "encoder"), ("translator", "cross"), ("encoder", "")])
def test_other_models_look_up_in_their_own_table(model: str, attention: str):
    address = {"attention": attention} if attention else {}
    text = "A dog sleeps."
    app = open_app(page=PAGE, model=model, text=text, **address, **VIEW)
    assert not sentences(app)
    meta, arrays = payload(app, "model_stages")
    token = int(meta["rows"][0]["module"].removeprefix("id "))
    own = runner(model).engine.model.get_input_embeddings().weight[token]
    np.testing.assert_allclose(arrays["vectors"][0], own.float().numpy(), atol=1e-6)
    assert torch.isfinite(own).all()
    assert "nearest" in words(app)
