"""The softmax of a whole vocabulary on the page Step by step: frequencies of a text, and the cutoff."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest

from analysis.long_text import chapter
from attention.vocabulary_cost import counted_adaptive
from tests.pages.expected import runner
from tests.pages.shown import words
from tests.ui.driving import open_app, sentences
from tests.ui.taken import offers, ran

PAGE = "pages/steps/page.py"
VIEW = {"steps.view": "softmax", "steps.softmax": "vocabulary"}


def test_the_books_tokens_have_short_ways_where_they_are_frequent(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, **{"steps.counted": "book"})
    counts = Counter(runner().ids_of(chapter().whole))
    names = ran(taken[-1].snippet)
    assert sorted(names["counts"]) == sorted(counts.values())
    total = sum(counts.values())
    mean = sum(c * d for c, d in zip(names["counts"], names["decisions"], strict=True)) / total
    entropy = sum(count / total * math.log2(total / count) for count in counts.values())
    assert entropy <= mean < entropy + 1  # Shannon 1948
    assert f"takes {mean:.2f} decisions" in words(app)
    assert f"entropy {entropy:.2f} bits" in words(app)
    assert names["decisions"][0] < names["decisions"][-1]
    assert not sentences(app)


@pytest.mark.parametrize("cutoff", ["64", "4096"])
def test_the_cutoff_is_marked_and_costs_what_torchs_layer_multiplies(monkeypatch, cutoff: str):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, **{"steps.cutoff": cutoff})
    cost = counted_adaptive(8192, 256, (int(cutoff),))
    assert f"Counted in torch’s own layer: {cost:,.0f}" in words(app)
    names = ran(taken[-1].snippet)
    assert names["cost"] == pytest.approx(cost)
    (chart,) = (json.loads(one.proto.spec)["data"] for one in app.get("plotly_chart"))
    at = list(chart[0]["x"]).index(float(cutoff))
    np.testing.assert_allclose(chart[0]["y"][at], cost)


def test_a_token_of_the_text_opens_its_way_and_a_text_of_one_has_none():
    text = "the dog and the cat and the bird"
    app = open_app(page=PAGE, **VIEW, text=text, **{"steps.frequent": str(runner().ids_of(" and")[0])})
    assert "P(and) = σ(" in words(app)
    app = open_app(page=PAGE, **VIEW, text="a")
    assert "a has all of it" in words(app)
