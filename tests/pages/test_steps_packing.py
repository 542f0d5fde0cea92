"""Short documents packed into windows on the page Step by step."""

from __future__ import annotations

import pytest

from analysis.long_text import chapter
from tests.pages.expected import runner
from tests.pages.shown import words
from tests.ui.driving import open_app, sentences
from tests.ui.taken import offers, ran

PAGE = "pages/steps/page.py"


@pytest.mark.parametrize("language, window", [("en", 512), ("zh", 128)])
def test_the_shares_are_those_of_the_paragraphs_by_the_models_tokens(monkeypatch, language: str, window: int):
    taken = offers(monkeypatch)
    address = {"steps.view": "batch", "steps.batch": "packing", "steps.window": str(window), "lang": language}
    app = open_app(page=PAGE, **address)
    lengths = [len(runner().ids_of(part)) for part in chapter(language).whole.split("\n\n")]
    names = ran(taken[-1].snippet)
    assert names["lengths"] == lengths
    rows = sum(-(-length // window) for length in lengths)
    assert names["shares"][0] == pytest.approx(1 - sum(lengths) / (rows * window))
    assert names["shares"][1] < names["shares"][0]
    shown = words(app)
    assert f"{100 * names['shares'][0]:.0f}" in shown
    assert str(len(lengths)) in shown
    assert not sentences(app)
    assert taken[-1].svg.count("<rect") > 2 * len(lengths)
