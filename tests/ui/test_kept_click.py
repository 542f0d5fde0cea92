"""A click on a button that its session has not drawn yet is stored until it has, and handled once."""

from __future__ import annotations

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from ui.state import kept_click


def script() -> None:
    import streamlit as st

    from ui.state.kept_click import button, call_lost

    def clicked(by: str, *, times: int) -> None:
        st.session_state.done = [*st.session_state.get("done", []), by] * times

    call_lost()
    st.session_state.runs = st.session_state.get("runs", 0) + 1
    if st.session_state.get("drawn"):
        button("go", key="go", on_click=clicked, args=("it",), kwargs={"times": 1})


def clicked_before(name: str = "$$ID-0123-go") -> AppTest:
    """A session whose first run brings a click on a button that only later runs draw."""
    app = AppTest.from_function(script)
    states = WidgetStates()
    one = states.widgets.add()
    one.id, one.trigger_value = name, True
    app._run(states)
    assert not app.exception
    app.session_state.drawn = True
    return app


def test_it_is_done_once_the_button_is_drawn_and_not_again():
    app = clicked_before().run()
    assert app.session_state.done == ["it"]
    assert app.run().session_state.done == ["it"]


def test_a_click_on_another_button_is_no_click_on_this_one():
    assert "done" not in clicked_before("$$ID-0123-stop").run().session_state


def test_one_that_is_too_old_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    app = clicked_before()
    monkeypatch.setattr(kept_click, "LONGEST", 0.0)
    assert "done" not in app.run().session_state


def test_a_click_on_a_button_that_is_there_is_done_once():
    app = AppTest.from_function(script)
    app.session_state.drawn = True
    app.run().button(key="go").click().run()
    assert app.session_state.done == ["it"]
    assert app.session_state.runs == 2
