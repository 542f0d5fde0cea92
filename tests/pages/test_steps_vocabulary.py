"""The softmax of a whole vocabulary on the page Step by step: frequencies of a text, and the cutoff."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from analysis.long_text import chapter
from attention.vocabulary_cost import counted_adaptive
from tests.pages.expected import runner
from tests.pages.shown import words
from tests.ui.driving import open_app, payload, send, sentences
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
    assert f"{mean:.2f} decisions on average" in words(app)
    assert f"entropy {entropy:.2f} bits" in words(app)
    assert names["decisions"][0] < names["decisions"][-1]
    assert not sentences(app)


@pytest.mark.parametrize("cutoff", ["64", "4096"])
def test_the_cutoff_is_marked_and_costs_what_torchs_layer_multiplies(monkeypatch, cutoff: str):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, **{"steps.cutoff": cutoff})
    cost = counted_adaptive(8192, 256, (int(cutoff),))
    meta, _arrays = payload(app, "chart")
    knob = meta["knob"]
    assert (knob["at"], knob["values"]) == (int(cutoff), [2**power for power in range(2, 13)])
    for at, said in zip(knob["values"], knob["said"], strict=True):
        assert f"Counted in torch’s own layer: {counted_adaptive(8192, 256, (at,)):,.0f}" in said
    names = ran(taken[-1].snippet)
    assert names["cost"] == pytest.approx(cost)


def test_where_the_cutoff_rests_is_in_the_address_and_in_what_is_taken_away(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW)
    send(app, "chart", "knob", 256)
    assert app.query_params["steps.cutoff"] == "256"
    assert payload(app, "chart")[0]["knob"]["at"] == 256
    assert ran(taken[-1].snippet)["cost"] == pytest.approx(counted_adaptive(8192, 256, (256,)))
    for wrong in ("x", 10**8, None):
        send(app, "chart", "knob", wrong)
        assert payload(app, "chart")[0]["knob"]["at"] == 256
    assert not sentences(app)


def test_a_token_of_the_text_opens_its_way_and_a_text_of_one_has_none():
    text = "the dog and the cat and the bird"
    app = open_app(page=PAGE, **VIEW, text=text, **{"steps.frequent": str(runner().ids_of(" and")[0])})
    assert "P(and) = σ(" in words(app)
    app = open_app(page=PAGE, **VIEW, text="a")
    assert "a has all of it" in words(app)
