"""Widgets that give typed values: the first option is the default, the rest is remembered and in the address."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ui import inputs


def script() -> None:
    import streamlit as st

    from ui import session
    from ui.inputs import choose, pick, switch

    session.begin()
    options = {"weights": "the weights", "scores": "the scores"}
    st.session_state["values"] = {
        "what": choose("What", "what", options),
        "metric": pick("Metric", "metric", {"entropy": "Entropy", "induction": "Induction"}),
        "hide": switch("Hide", "hide"),
    }
    session.write_address()


def opened(**address: str) -> AppTest:
    app = AppTest.from_function(script, default_timeout=60)
    app.query_params.update(address)
    app.run()
    assert not app.exception
    return app


def values(app: AppTest) -> dict[str, Any]:
    return app.session_state["values"]


def test_the_first_option_is_the_default():
    app = opened()
    assert values(app) == {"what": "weights", "metric": "entropy", "hide": False}
    assert app.query_params == {}


def test_the_address_sets_values_and_widgets():
    app = opened(what="scores", metric="induction", hide="1")
    assert values(app) == {"what": "scores", "metric": "induction", "hide": True}
    assert app.button_group(key="choice_what").value == "scores"
    assert app.selectbox(key="choice_metric").value == "induction"
    assert app.toggle(key="choice_hide").value is True


def test_what_a_run_sets_is_set_again_for_a_moment_and_what_the_reader_sets_is_not(monkeypatch):
    seconds = 0.0
    monkeypatch.setattr(inputs, "time", SimpleNamespace(monotonic=lambda: seconds))

    def is_set(app: AppTest) -> bool:
        assert not app.exception
        return app.button_group(key="choice_what").proto.set_value

    app = opened(what="scores")
    assert is_set(app)
    seconds = 2.0
    assert is_set(app.run())
    seconds = 4.0
    assert not is_set(app.run())
    app.button_group(key="choice_what").set_value("weights")
    assert not is_set(app.run())
    assert values(app)["what"] == "weights"


@pytest.mark.parametrize("address", [{"what": "x"}, {"metric": ""}, {"hide": "yes"}])
def test_what_is_not_an_option_is_the_default(address):
    assert values(opened(**address)) == values(opened())


def test_a_change_counts_in_the_same_run_and_stays():
    app = opened()
    app.button_group(key="choice_what").set_value("scores")
    app.selectbox(key="choice_metric").set_value("induction")
    app.toggle(key="choice_hide").set_value(True)
    app.run()
    expected = {"what": "scores", "metric": "induction", "hide": True}
    assert values(app) == expected
    assert app.query_params == {"what": "scores", "metric": "induction", "hide": "1"}
    assert values(app.run()) == expected


def test_back_at_the_default_it_leaves_the_address():
    app = opened(what="scores", hide="1")
    app.button_group(key="choice_what").set_value("weights")
    app.toggle(key="choice_hide").set_value(False)
    app.run()
    assert app.query_params == {}
    assert values(app)["hide"] is False
