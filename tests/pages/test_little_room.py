"""A model with little room: what a page writes or hides by itself is told as that, not as the reader's text."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model_runner import CaptureRequest
from tests.model_runner.folders import save
from tests.model_runner.tiny import tiny
from tests.pages.expected import runner
from tests.ui.driving import button, html, open_app, sentences

ZOO, LONG_TEXTS = "pages/zoo/page.py", "pages/long_texts/page.py"


def rested(app: AppTest, until: str) -> AppTest:
    for _look in range(200):
        if until in html(app) or any(until in said for said in sentences(app)):
            return app
        app.run()
    raise AssertionError([*sentences(app), html(app)[-2000:]])


@pytest.mark.parametrize(
    "page, place, start",
    [(ZOO, {"zoo.view": "hybrid"}, "zoo_recall_start"), (LONG_TEXTS, {"long_texts.view": "needle"}, "needle_start")],
)
def test_a_text_with_a_needle_that_does_not_fit_is_not_the_readers_to_shorten(
    tmp_path: Path, page: str, place: dict[str, str], start: str
):
    folder = str(save(tmp_path, tiny("gpt2", max_position_embeddings=48)()))
    app = rested(open_app(page=page, model=folder, text="The dog", **place), "The text with the needle is")
    (said,) = sentences(app)
    assert "tokens long, but 48 fit: this model has no more positions." in said
    assert "Shorten the text" not in said
    assert not button(app, start)


@pytest.mark.long
def test_what_goes_on_ends_where_no_token_more_can_be_read():
    text = "word " * 1019
    left = 1024 - len(runner().capture(CaptureRequest(text)).tokens)
    assert 0 < left < 8
    said = f"Only {left} tokens fit after the text: heads can be substituted in texts of up to 1024."
    app = rested(open_app(page=ZOO, text=text, **{"zoo.view": "model"}), said)
    assert sentences(app) == []
    assert not button(app, "zoo_greedy_start")
