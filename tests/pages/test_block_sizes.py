"""Sizes on the page The block: the open model's own, known ones, and what is typed; what does not fit is a sentence."""

from __future__ import annotations

import json

import pytest

from analysis.decoder_sizes import BY_NAME
from tests.pages.expected import runner
from tests.pages.shown import words
from tests.ui.driving import open_app, sentences
from tests.ui.taken import offers, ran

PAGE = "pages/block/page.py"
VIEW = {"block.view": "sizes"}


def bars(app):
    """The lengths of the bars of both charts."""
    return [list(json.loads(one.proto.spec)["data"][0]["x"]) for one in app.get("plotly_chart")]


def test_it_begins_with_the_open_model_whose_parts_are_all_its_parameters():
    app = open_app(page=PAGE, **VIEW)
    assert sum(bars(app)[0]) == runner().info.n_parameters
    assert {one.key.split(":")[0]: one.value for one in app.number_input}["block.d_model"] == 256


def test_a_typed_number_is_in_every_sum_and_another_model_begins_anew(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, **{"block.like": "Qwen2 72B", "block.kv_heads": "64"})
    known, names = BY_NAME["Qwen2 72B"], ran(taken[-1].snippet)
    assert names["cache"] == 8 * known.cache_bytes(8192)
    assert sum(bars(app)[0]) == sum(names["parameters"].values()) == known.total + 2 * 80 * 8193 * 56 * 128
    assert "82.1 B parameters" in words(app)
    app.selectbox(key="block.like").set_value("GPT-3 175B").run()
    assert "block.kv_heads" not in app.query_params
    assert "GPT-3 175B: 175 B parameters" in words(app)


@pytest.mark.parametrize(
    "typed, sentence",
    [
        ({"block.heads": "0"}, "The number of heads is 0; it must be at least 1."),
        ({"block.heads": "7"}, "256 dimensions cannot be shared out evenly among 7 heads"),
        ({"block.kv_heads": "3"}, "8 query heads cannot share 3 key/value heads evenly."),
        ({"block.kv_heads": "16"}, "8 query heads cannot share 16 key/value heads evenly."),
        ({"block.layers": "abc"}, "“abc” is not a number for number of layers."),
    ],
)
def test_sizes_that_do_not_fit_are_one_sentence_and_the_known_models_stay(typed, sentence):
    app = open_app(page=PAGE, **VIEW, **typed)
    (said,) = sentences(app)
    assert sentence in said
    assert "Llama 3.1 405B" in words(app)


def test_a_model_too_large_to_be_built_is_only_a_number():
    sizes = {"block.layers": "1000", "block.d_model": "100000", "block.heads": "1000", "block.d_ffn": "400000"}
    app = open_app(page=PAGE, **VIEW, **{"block.like": "Llama 3 70B"}, **sizes)
    assert sentences(app) == []
    assert "T parameters" in words(app)


@pytest.mark.long
def test_a_model_of_other_parts_is_not_forced_into_the_formula(folder_of):
    app = open_app(page=PAGE, model=folder_of("mixtral"), **VIEW)
    assert "this model" not in app.selectbox(key="block.like").options
    assert "Llama 3 8B: 8.03 B parameters" in words(app)
