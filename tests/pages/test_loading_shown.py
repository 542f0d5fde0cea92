"""While a model is loaded: its bytes, what it is going to be, and the way back; of A and of Compare's B."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from model_runner.preview import ModelPreview
from tests.model_runner.folders import change_weights, save
from tests.model_runner.local.recording.test_encoder_decoders import FAMILIES
from tests.pages.test_compare import PAGE as COMPARE
from tests.ui.driving import App, button, components, html, open_app, sentences
from ui.state import session
from ui.state.frame_slots import frame_slots

MB = 1 << 20
LARGE = ModelPreview("someone/large", "llama", "float32", "cpu", 7_000_000, 4, 8, 2, 2048, 28 * MB, 999 * MB, 12 * MB)
BAR = "progress"


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has the loading of the model of this name stand still where these are said: what is shown then stays."""

    def hold(name: str, *stages: tuple[str, int, int], preview: ModelPreview = LARGE) -> None:
        whole = session.runner

        def runner(asked, say, show):
            if asked != name:
                return whole(asked, say, show)
            show(preview)
            for stage in stages:
                say(*stage)
            for place in ("status", "stop", "preview"):
                setattr(frame_slots(), place, st.empty())  # what ends with the run are these
            raise StopException()

        monkeypatch.setattr(session, "runner", runner)

    return hold


def bar(app: App) -> tuple[int, str]:
    """How many of a hundred are filled, and the words on it."""
    shown = [one.proto for one in app.get(BAR)]
    assert len(shown) == 1
    return shown[0].value, shown[0].text


def test_what_is_downloaded_is_said_in_bytes_and_drawn_as_their_share(held):
    held("someone/large", ("asking", 0, 0), ("downloading", 3 * MB, 12 * MB))
    assert bar(open_app(model="someone/large")) == (25, "Downloading the model … 3 MB / 12 MB")


@pytest.mark.long
def test_what_a_class_fills_by_itself_is_said_beside_the_model(tmp_path):
    folder = save(tmp_path / "model", FAMILIES["bart"]())
    assert "fixed numbers" not in html(open_app(model=str(folder), text="a cat"))
    less = shutil.copytree(folder, tmp_path / "less")
    change_weights(less, lambda tensors: {name: one for name, one in tensors.items() if name != "final_logits_bias"})
    app = open_app(model=str(less), text="a cat")
    assert "so its own code fills it with fixed numbers: final_logits_bias." in html(app)


def test_a_stage_without_bytes_says_none(held):
    held("someone/large", ("loading", 0, 0))
    assert bar(open_app(model="someone/large")) == (0, "Loading the weights …")


def test_stop_loading_leads_back_to_the_embedded_model(held):
    held("someone/large", ("downloading", 0, 12 * MB), ("loading", 1, 2))
    app = open_app(model="someone/large")
    assert "12 MB to download" in html(app)
    app.button(key="stop_loading").click().run()
    assert "model" not in app.query_params
    assert not button(app, "stop_loading")
    assert components(app) != []
    assert sentences(app) == []


@pytest.mark.parametrize("stage", ["reading", "queue"])
def test_nothing_is_offered_to_be_stopped_where_nothing_is_loaded(held, stage):
    held("someone/large", (stage, 1, 0))
    assert not button(open_app(model="someone/large"), "stop_loading")


def test_what_b_is_going_to_be_and_its_bytes_are_shown_while_it_is_loaded(held):
    held("someone/large", ("downloading", 3 * MB, 12 * MB))
    app = open_app(page=COMPARE, **{"compare.model": "someone/large"})
    assert bar(app) == (25, "B · Downloading the model … 3 MB / 12 MB")
    assert "B · llama · whether it can be captured is known once it is loaded · 7 million parameters" in html(app)
    assert "12 MB to download" in html(app)


def test_what_b_is_going_to_be_is_escaped(held):
    held("someone/large", preview=replace(LARGE, family="<b>llama"))
    assert "B · &lt;b&gt;llama" in html(open_app(page=COMPARE, **{"compare.model": "someone/large"}))


def test_stop_loading_of_b_leads_back_to_the_same_model(held):
    held("someone/large", ("downloading", 0, 12 * MB))
    app = open_app(page=COMPARE, **{"compare.model": "someone/large"})
    app.button(key="stop_other").click().run()
    assert "compare.model" not in app.query_params
    assert not button(app, "stop_other")
    assert components(app).count("head_map") == 3
    assert "12 MB to download" not in html(app)


@pytest.mark.long
def test_what_b_is_going_to_be_stands_there_where_it_cannot_be_and_not_once_it_is(folder_of, monkeypatch):
    shown = "B · llama · its family can be captured"
    address = {"compare.model": folder_of("llama")}
    assert shown not in html(open_app(page=COMPARE, **address))
    session.model_cache.clear()
    open_app(page=COMPARE)  # A is there again
    monkeypatch.setattr("model_runner.memory.available", lambda _device: 1_000)
    app = open_app(page=COMPARE, **address)
    assert sentences(app) != []
    assert shown in html(app)
