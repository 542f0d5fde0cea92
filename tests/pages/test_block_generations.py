"""The block of 2017 beside one of today on the page The block: at the open model's sizes, or a known one's."""

from __future__ import annotations

import pytest

from tests.pages.expected import runner
from tests.pages.shown import words
from tests.ui.driving import open_app, sentences
from tests.ui.taken import offers, ran

PAGE = "pages/block/page.py"
VIEW = {"block.blocks": "two"}


def test_today_is_the_open_model_itself_where_it_is_built_so(monkeypatch):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW)
    own = sum(one.numel() for one in runner().engine.model.parameters())
    names = ran(taken[-1].snippet)
    assert sum(names["now"].values()) == own
    assert f"today: {own / 1e6:.1f} M" in words(app)
    assert "GQA 8 → 4" in words(app)
    assert names["then"]["cross"] > 0 == names["now"]["cross"]
    assert not sentences(app)


@pytest.mark.parametrize("model, text", [("translator", "A dog sleeps."), ("encoder", "A dog [MASK].")])
def test_of_a_model_of_another_kind_a_known_ones_sizes_are_used_or_its_own(model: str, text: str):
    app = open_app(page=PAGE, model=model, text=text, **VIEW)
    assert not sentences(app)
    assert "2017: encoder and decoder" in words(app)
