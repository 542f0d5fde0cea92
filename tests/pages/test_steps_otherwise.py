"""Attention seen otherwise on Step by step: the open head's own numbers, and what cannot be is one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pages.expected import capture
from tests.pages.shown import words
from tests.ui.driving import components, open_app, payloads, send, sentences
from tests.ui.taken import offers, ran

PAGE = "pages/steps/page.py"
VIEW = {"steps.view": "otherwise", "layer": "6", "head": "4", "query": "7"}


def test_the_dictionary_goes_from_one_entry_over_the_models_own_row_to_the_average(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW)
    own = capture().weights(6, 4)[7].numpy()
    np.testing.assert_allclose(ran(taken[-1].snippet)["weights"], own, atol=1e-5)
    assert "77 %" in words(app)
    app.select_slider[0].set_value("0").run()
    assert ran(taken[-1].snippet)["weights"].tolist() == [float(key == own.argmax()) for key in range(8)]
    assert "takes only the value of “ dog ”" in words(app)
    app.select_slider[0].set_value("inf").run()
    np.testing.assert_allclose(ran(taken[-1].snippet)["weights"], [1 / 8] * 8)


@pytest.mark.parametrize(
    "weights, values, said",
    [
        ("0.2, 0.1, 0.5, 0.3", "5, 1, 3, 2", "These weights sum to 1.1, not 1: each was divided by that."),
        ("0.2, x", "5, 1", "Numbers with commas between are needed"),
        ("", "5", "Numbers with commas between are needed"),
        ("nan", "5", "Numbers with commas between are needed"),
        ("0.5 0.5", "1 2 3", "2 weights for 3 values: there must be as many."),
        ("1.5, -0.5", "1, 2", "none is below 0"),
        ("0, 0", "1, 2", "none is below 0"),
    ],
)
def test_weights_that_are_none_are_one_sentence_and_what_was_typed_stays(weights, values, said):
    typed = {"steps.otherwise": "typed", "steps.weights": weights, "steps.values": values}
    app = open_app(page=PAGE, **VIEW, **typed)
    (sentence,) = sentences(app)
    assert said in sentence
    assert [one.value for one in app.text_input if one.label.startswith(("weights", "values"))] == [weights, values]


def test_the_mixture_is_the_sum_of_each_weight_times_its_value(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(
        page=PAGE, **VIEW, **{"steps.otherwise": "typed", "steps.weights": "0.25，0.75", "steps.values": "8 4"}
    )
    assert sentences(app) == []
    assert "0.25 · 8 + 0.75 · 4 = 5" in words(app)
    assert float(ran(taken[-1].snippet)["mixture"]) == 5


@pytest.mark.parametrize("matrices, symmetric", [("own", False), ("same", True), ("none", True)])
def test_exchanged_matrices_say_whether_the_scores_are_symmetric(matrices, symmetric, monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, **{"steps.otherwise": "matrices", "steps.matrices": matrices, "key": "2"})
    scores = taken[-1].arrays["scores"]
    assert np.allclose(scores, scores.T) == symmetric
    assert ("not symmetric" in words(app)) != symmetric
    np.testing.assert_allclose(ran(taken[-1].snippet)["scores"], scores)
    shown = payloads(app, "layer_head_map")[0][1]["values"]
    np.testing.assert_allclose(shown, scores, rtol=1e-6)
    send(app, "layer_head_map", "head", [5, 1])
    assert (app.query_params["query"], app.query_params["key"]) == ("5", "1")


def test_the_rank_is_that_of_a_head_and_a_head_of_other_parts_says_so(folder_of, monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, **{"steps.otherwise": "rank"})
    assert "is 256 × 256, but its rank is at most 32" in words(app)
    assert len(ran(taken[-1].snippet)["qk"]) == 32
    address = {"steps.view": "otherwise", "steps.otherwise": "matrices"}
    app = open_app(page=PAGE, model=folder_of("olmo2"), **address)
    assert len(sentences(app)) == 1
    assert "layer_head_map" not in components(app)
