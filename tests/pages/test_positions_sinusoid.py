"""Sinusoidal positions on the page Positions: the formula, the model's own matrices, and no number of another kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from analysis.positions import float64
from tests.pages.expected import capture
from tests.ui.driving import components, open_app, payloads, send, sentences
from tests.ui.taken import offers, ran

PAGE = "pages/positions/page.py"
VIEW = {"positions.view": "sinusoid", "layer": "3", "head": "2"}


def maps(app):
    """The values of every map, by its title."""
    return {meta["title"]: arrays["values"].astype(np.float64) for meta, arrays in payloads(app, "layer_head_map")}


def finding(app):
    return next(one.proto.body for one in app.get("html") if "data-finding" in one.proto.body)


def test_the_table_is_the_formula_at_the_words_of_the_text():
    app = open_app(page=PAGE, **VIEW, **{"positions.size": "8", "positions.dim": "5"})
    wanted = [
        [(math.cos if i % 2 else math.sin)(pos / 10000 ** ((i - i % 2) / 8)) for i in range(8)] for pos in range(8)
    ]
    np.testing.assert_allclose(maps(app)["PE(pos, i)"], wanted, atol=1e-7)
    assert "cos(7 ÷ 10000^(4/8)) = 1.00" in finding(app)
    send(app, "layer_head_map", "head", [2, 0])
    assert (app.query_params["query"], "positions.dim" in app.query_params) == ("2", False)
    assert "sin(2 ÷ 10000^(0/8)) = 0.91" in finding(app)


def test_a_step_further_on_turns_every_pair_by_its_own_angle():
    app = open_app(page=PAGE, **VIEW, **{"positions.sine": "turn", "positions.delta": "3", "query": "4"})
    ((meta, arrays),) = payloads(app, "rotation")
    assert (meta["position"], meta["token"]) == (3, "p(4)")
    for vectors, pos in ((arrays["q"], 4), (arrays["k"], 0)):
        for (x, y), theta in zip(vectors.reshape(-1, 2).tolist(), arrays["theta"].tolist(), strict=True):
            turned = complex(x, y) * complex(math.cos(3 * theta), math.sin(3 * theta))
            assert abs(turned - complex(math.cos((pos + 3) * theta), math.sin((pos + 3) * theta))) < 1e-5
    assert float(meta["difference"].replace("−", "-")) < 1e-12
    send(app, "rotation", "position", 1)
    assert "positions.delta" not in app.query_params


def test_the_first_map_is_the_models_own_score_without_rotation_and_all_four_add_up(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, **{"positions.sine": "terms", "query": "7", "key": "2"})
    shown, own = maps(app), capture()
    q, k = own.q_unrotated(3)[2], own.k_unrotated(3)[1]  # the model's, of a module that knows nothing of these maps
    content = (float64(q) @ float64(k).T * own.record(3).scale).numpy()
    np.testing.assert_allclose(shown["content · content"], content, atol=2e-4)
    four = [values for title, values in shown.items() if title != "their sum: the scores"]
    np.testing.assert_allclose(sum(four), shown["their sum: the scores"], atol=1e-4)
    arrays, names = taken[-1].arrays, ran(taken[-1].snippet)
    whole = names["x"] + names["p"]
    direct = whole @ names["found"].q.matrix.double() @ (whole @ names["found"].k.matrix.double()).T
    np.testing.assert_allclose(arrays["total"], direct * own.record(3).scale, atol=1e-9)
    np.testing.assert_allclose(names["scores"], arrays["total"], atol=1e-9)
    assert "p is added here" in finding(app)
    send(app, "layer_head_map", "head", [5, 1])
    assert (app.query_params["query"], app.query_params["key"]) == ("5", "1")


@pytest.mark.parametrize("order", ["reversed", "swapped", "random"])
def test_another_order_moves_no_output_until_positions_are_added(order, monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, **{"positions.sine": "shuffled", "positions.order": order})
    assert "attention without positions is equivariant" in finding(app)
    without = taken[-1].arrays
    places = without["order"].tolist()
    np.testing.assert_allclose(without["output_reordered"], without["output"][places], atol=1e-12)
    np.testing.assert_allclose(without["weights_reordered"], without["weights"][places][:, places], atol=1e-12)
    app.toggle[0].set_value(True).run()
    assert "With positions the order counts" in finding(app)
    added, names = taken[-1].arrays, ran(taken[-1].snippet)
    assert np.abs(added["output_reordered"] - added["output"][places]).max() > 0.01
    np.testing.assert_allclose(names["other"].output, added["output_reordered"], atol=1e-9)
    assert float(names["moved"].max()) > 0.01


def test_what_cannot_be_is_one_sentence(folder_of):
    app = open_app(page=PAGE, **VIEW, **{"positions.size": "4", "positions.dim": "7"})
    assert sentences(app) == ["There are 4 dimensions, numbered from 0: there is no dimension 7."]
    app = open_app(page=PAGE, model=folder_of("olmo2"), **{"positions.view": "sinusoid", "positions.sine": "terms"})
    assert len(sentences(app)) == 1
    assert "not plain matrix products" in sentences(app)[0]
    app = open_app(page=PAGE, model=folder_of("gpt2"), **{"positions.view": "sinusoid", "positions.sine": "terms"})
    assert components(app).count("layer_head_map") == 5  # a model without rotation has matrices too


def test_a_long_text_shows_the_part_with_the_open_token():
    text = "one two three four five six seven eight nine ten " * 5
    app = open_app(page=PAGE, text=text, **VIEW, **{"positions.sine": "terms", "query": "30"})
    assert all(values.shape == (16, 16) for values in maps(app).values())
    rows = payloads(app, "layer_head_map")[0][0]["row_labels"]
    assert rows[0].startswith("22 ")
    assert torch.is_tensor(capture(text).q(3))
