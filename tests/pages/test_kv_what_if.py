"""The view What if of the page KV cache: its curve, its next token, its text and its bytes are the changed model's."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from analysis.kv_bytes import bytes_read
from analysis.kv_drop import CacheTrial, kl_of_rows
from model_runner import CaptureRequest, GenerateRequest
from model_runner.edits import KeepLast
from model_runner.python_lines import python_start
from model_runner.questions import CacheLayers, NextLogits
from pages.kv_cache.what_if import to_generate, what_if_code
from tests.pages.expected import runner
from tests.pages.kv_driving import figure, opened
from tests.ui.driving import button, html, sentences, until
from tests.ui.taken import ran
from ui.state.url_state import DEFAULT_TEXT

pytestmark = pytest.mark.table  # its tests take a second each


def answered(**address: str) -> AppTest:
    return until(opened(kv="what_if", **address), lambda app: not button(app, "curve_stop"))


def logits(*edits: Any):
    return runner().submit(NextLogits(CaptureRequest(DEFAULT_TEXT, edits=edits))).result()


def test_the_curve_has_every_window_with_sinks_and_without():
    app = answered(sinks="2")
    alone, sinks = figure(app, "kv_curve")["data"]
    assert alone["x"] == sinks["x"] == list(range(1, 9))
    for window in (1, 4, 8):
        assert alone["y"][window - 1] == pytest.approx(kl_of_rows(logits(), logits(KeepLast(window))), abs=1e-6)
        assert sinks["y"][window - 1] == pytest.approx(kl_of_rows(logits(), logits(KeepLast(window, 2))), abs=1e-6)


@pytest.mark.usefixtures("whole_texts")
def test_the_slider_moves_the_marker_the_next_token_and_the_text():
    app = opened(kv="what_if", sinks="1")
    app.slider(key="kv_cache.keep").set_value(2).run()
    assert app.query_params["kv_cache.keep"] == "2"
    until(app, lambda app: not button(app, "curve_stop"))
    assert figure(app, "kv_curve")["layout"]["shapes"][0]["x0"] == 2
    edits = (KeepLast(2, 1),)
    kl = kl_of_rows(logits(), logits(*edits))
    assert f"KL {kl:.3g} bits" in html(app)
    request = GenerateRequest(DEFAULT_TEXT, max_new_tokens=12, edits=edits)
    changed = "".join(step.token.text for step in runner().generate(request)).replace("·", " ")
    shown = unescape(re.sub(r"</?(mark|span)[^>]*>", "", html(app)))
    assert changed in shown


def test_the_bytes_left_are_those_of_what_is_kept():
    app = opened(kv="what_if", keep="2", sinks="1")
    request = CaptureRequest(DEFAULT_TEXT)
    layers = runner().submit(CacheLayers(request)).result()
    full, left = (bytes_read(runner().capture(request), layers, **kept) for kept in ({}, {"window": 2, "sinks": 1}))
    assert (full, left) == (65_536, 3 * 8192)
    assert "64 KB → 24 KB" in html(app)


def test_int8_is_asked_for_all_tokens():
    app = answered(drop="int8")
    assert "W and S change nothing" in html(app)
    assert not {"kv_cache.keep", "kv_cache.sinks"} & {one.key for one in (*app.slider, *app.selectbox)}
    marks = [one for one in figure(app, "kv_curve")["layout"]["shapes"] if one["line"]["dash"] == "dot"]
    assert [(one["x0"], one["x1"]) for one in marks] == [(0, 1)]  # its level, drawn across; no window is marked
    assert "64 KB → 18 KB" in html(app)


@pytest.mark.parametrize(
    "keep, said",
    [("0", "The window is 0; it must be at least 1."), ("abc", "“abc” is not a number")],
)
def test_a_window_that_keeps_nothing_is_one_sentence_and_half_the_text_is_used(keep, said):
    app = opened(kv="what_if", keep=keep)
    assert [said in shown for shown in sentences(app)] == [True]
    assert app.slider(key="kv_cache.keep").value == 4


def test_a_window_longer_than_the_text_is_the_whole_text():
    app = opened(kv="what_if", keep="999")
    assert sentences(app) == []
    assert app.slider(key="kv_cache.keep").value == 8
    assert "KL 0 bits" in html(app)


def test_the_snippet_gives_the_kl_of_the_page_of_a_text_with_a_continuation_too(monkeypatch):
    monkeypatch.setattr("ui.wording.i18n.language", lambda: "en")
    capture = runner().capture(CaptureRequest(DEFAULT_TEXT, continuation=(5, 7)))
    page: Any = SimpleNamespace(runner=runner(), capture=capture, layer=3, head=1)
    names = ran(python_start(page.capture.request) + what_if_code(page, CacheTrial(3, 1)))
    after = runner().capture(replace(capture.request, edits=CacheTrial(3, 1).edits))
    assert float(names["kl"]) == pytest.approx(kl_of_rows(capture.logits(-1), after.logits(-1)), rel=1e-4)
    steps = runner().generate(to_generate(page, CacheTrial(3, 1)))
    assert names["continuation"] == [step.token.text for step in steps]


def test_another_model_continues_the_text_by_itself(folder_of):
    app = opened(kv="what_if")
    own = continued(app)
    app.session_state["model"] = folder = str(folder_of("llama"))
    app.session_state["chosen"] = {folder}
    app.run()
    assert continued(app) != own


def continued(app: AppTest) -> str:
    """The table of texts on the page."""
    return re.search(r'<table class="atlas-lanes">.*?</table>', html(app), re.DOTALL).group()
