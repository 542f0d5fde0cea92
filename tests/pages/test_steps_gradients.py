"""Step by step: gradients by depth and distance, the Huffman tree under softmax, and Var(q·k) term by term."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from attention.gradient_flow import gradient_by_depth
from attention.score_scaling import DIMENSIONS, PAIRS, random_products, summed_variances, variances
from tests.pages.shown import words
from tests.ui.driving import open_app, sentences
from tests.ui.taken import offers, ran

PAGE = "pages/steps/page.py"


def lines(app):
    """Every line of every chart by its name."""
    return {one["name"]: one["y"] for chart in app.get("plotly_chart") for one in json.loads(chart.proto.spec)["data"]}


def test_the_gradient_vanishes_without_residuals_and_arrives_with_them(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **{"steps.view": "gradients", "steps.depth": "12", "steps.gain": "0.5"})
    drawn = lines(app)
    assert drawn["residuals, pre-norm"] == pytest.approx(list(gradient_by_depth("pre", 12, 0.5)))
    assert drawn["no residuals"][0] < 1e-6 < 0.5 < drawn["residuals, pre-norm"][0]
    assert drawn["recurrent net: a step for each token between"][20] < 1e-5
    assert max(drawn["attention: one step, the token’s weight"]) < 1
    names = ran(taken[-1].snippet)
    assert names["by_depth"]["post"] == pytest.approx(drawn["residuals, post-norm"])
    app.selectbox(key="steps.gain").set_value("2").run()
    assert lines(app)["no residuals"][0] > 10


def test_every_way_down_the_huffman_tree_multiplies_to_the_share_of_the_softmax(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **{"steps.view": "softmax", "steps.largest": "4", "steps.leaf": "3"})
    names = ran(taken[-1].snippet)
    wanted = torch.softmax(names["scores"].double(), 0).tolist()
    products = [math.prod(one.probability for one in path) for path in names["paths"]]
    assert products == pytest.approx(wanted, rel=1e-9)
    assert math.fsum(products) == pytest.approx(1)
    assert "P(s3) = σ(" in words(app)
    app = open_app(page=PAGE, **{"steps.view": "softmax", "steps.numbers": "S00_1000~S01_-1000", "steps.leaf": "1"})
    assert sentences(app) == []
    assert "The share of s1 is 0 in float64: no path leads to it." in words(app)


def test_the_variances_of_the_terms_add_up_to_d_and_differ_from_the_products_by_covariances_alone():
    summed, measured = summed_variances(PAIRS).numpy(), variances(random_products(PAIRS)).numpy()
    np.testing.assert_allclose(summed / np.array(DIMENSIONS), 1, atol=0.1)
    draw = torch.Generator().manual_seed(0)
    q, k = (torch.randn(PAIRS, DIMENSIONS[-1], generator=draw).double() for _ in range(2))
    for place, d in enumerate(DIMENSIONS[:6]):
        covariance = np.cov((q * k)[:, :d].T.numpy()).reshape(d, d)
        assert np.trace(covariance) == pytest.approx(summed[place])
        assert covariance.sum() == pytest.approx(measured[place])
