"""What a session looks at, and its address: copied into another session it gives the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ui.session import DEFAULT_TEXT, LONGEST_TEXT_IN_ADDRESS, Place


def run(script: Callable[[], None], address: dict[str, Any] | None = None) -> AppTest:
    """A script run as a session's first, at this address."""
    app = AppTest.from_function(script, default_timeout=60)
    app.query_params.update(address or {})
    app.run()
    assert not app.exception
    return app


def open_and_mirror() -> None:
    import streamlit as st

    from ui import session

    session.begin()
    st.session_state["told"] = session.take_problems()
    st.session_state["told again"] = session.take_problems()
    session.write_address()


ADDRESSES = [
    {},
    {"text": "The capital of France is"},
    {"text": ""},
    {"text": "a&b=c#d?e +%20 \n 北京 \u05e9 😀 <b>"},
    {"model": "/some/folder", "text": "hello"},
    {"layer": "3", "head": "7"},
    {"layer": "0", "head": "0", "query": "0", "key": "0"},
    {"query": "none"},
    {"query": "5", "key": "2"},
    {"layer": "-1", "head": "-2", "key": "-3"},
    {"window": "0-3-2-9"},
    {"what": "scores", "color": "log", "nofirst": "1", "metric": "induction", "lang": "zh", "unheard": "of"},
    {"text": "x" * LONGEST_TEXT_IN_ADDRESS},
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_session_writes_the_address_it_was_opened_at(address):
    assert run(open_and_mirror, address).query_params == address


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_gives_two_sessions_the_same_place_but_not_the_same_name(address):
    first, second = run(open_and_mirror, address), run(open_and_mirror, address)
    for part in ("model", "text", "place", "choices"):
        assert first.session_state[part] == second.session_state[part]
    assert first.session_state["session_id"] != second.session_state["session_id"]


def test_every_part_of_an_address_is_read():
    app = run(open_and_mirror, {"model": " m ", "text": "t", "layer": "1", "head": "2", "query": "3", "key": "4",
                                "window": "5-6-7-8", "metric": "entropy"})  # fmt: skip
    assert app.session_state["place"] == Place(1, 2, 3, 4, (5, 6, 7, 8))
    assert (app.session_state["model"], app.session_state["text"]) == ("m", "t")
    assert app.session_state["choices"] == {"metric": "entropy"}


def test_what_is_at_its_default_has_no_place_in_the_address():
    app = run(open_and_mirror, {"text": DEFAULT_TEXT, "model": "default", "query": "-1"})
    assert app.query_params == {}


def test_a_text_too_long_for_an_address_is_left_out_of_it_and_kept():
    long = "x" * (LONGEST_TEXT_IN_ADDRESS + 1)
    app = run(open_and_mirror, {"text": long, "layer": "3"})
    assert app.query_params == {"layer": "3"}
    assert app.session_state["text"] == long


@pytest.mark.parametrize("name", ["layer", "head", "query", "key"])
@pytest.mark.parametrize("value", ["abc", "", "1.5", "0x10", "9" * 5000])
def test_what_is_not_a_number_is_reported_once_and_read_as_not_given(name, value):
    app = run(open_and_mirror, {name: value})
    assert app.session_state["told"] == [(name, value)]
    assert app.session_state["told again"] == []
    assert app.session_state["place"] == Place()


@pytest.mark.parametrize("window", ["1-2-3", "1-2-3-4-5", "a-b-c-d", "1-2-3-x", "-1--2-3-4", "-", "1"])
def test_a_window_that_is_not_four_numbers_is_reported_once_and_is_the_whole_text(window):
    app = run(open_and_mirror, {"window": window})
    assert app.session_state["place"] == Place()
    assert app.session_state["told"] == [("window", window)]


def test_only_the_first_run_of_a_session_reads_the_address():
    app = run(open_and_mirror, {"layer": "3"})
    app.query_params["layer"] = "5"
    app.run()
    assert app.session_state["place"].layer == 3
    assert app.query_params == {"layer": "3"}


def test_another_text_forgets_positions_and_keeps_the_head():
    def script() -> None:
        from ui import session

        session.begin()
        session.set_text("another")
        session.write_address()

    app = run(script, {"text": "one", "layer": "3", "head": "1", "query": "2", "key": "1", "window": "0-2-0-2"})
    assert app.query_params == {"text": "another", "layer": "3", "head": "1"}


def test_the_same_text_again_forgets_nothing():
    def script() -> None:
        from ui import session

        session.begin()
        session.set_text("one")

    app = run(script, {"text": "one", "query": "2", "key": "1"})
    assert app.session_state["place"] == Place(query=2, key=1)


def test_another_model_forgets_the_place_and_keeps_text_and_choices():
    def script() -> None:
        from ui import session

        session.begin()
        session.set_model("other")
        session.write_address()

    app = run(script, {"text": "one", "layer": "3", "head": "1", "query": "2", "metric": "entropy"})
    assert app.query_params == {"model": "other", "text": "one", "metric": "entropy"}


def test_moving_changes_only_what_is_named():
    def script() -> None:
        from ui import session

        session.begin()
        session.move(head=5, query=None)

    app = run(script, {"layer": "3", "head": "1", "query": "2", "key": "4"})
    assert app.session_state["place"] == Place(3, 5, None, 4)


def test_a_choice_is_the_default_unless_it_is_one_of_the_options():
    def script() -> None:
        import streamlit as st

        from ui import session

        session.begin()
        options = ("weights", "scores")
        st.session_state["found"] = [session.choice(name, options) for name in ("what", "other", "bad")]

    app = run(script, {"what": "scores", "bad": "nonsense"})
    assert app.session_state["found"] == ["scores", "weights", "weights"]


def test_a_choice_back_at_its_default_leaves_the_address():
    def script() -> None:
        from ui import session

        session.begin()
        session.choose("what", "weights", "weights")
        session.choose("color", "log", "linear")
        session.write_address()

    assert run(script, {"what": "scores"}).query_params == {"color": "log"}


def test_another_model_is_looked_at_without_the_edits_of_the_one_before():
    def script() -> None:
        from ui import session

        session.begin()
        session.set_model("another")
        session.write_address()

    app = run(script, {"edits": "ScaledHead(1,2,0.0)", "everywhere": "1"})
    assert app.query_params == {"model": "another", "edits": "ScaledHead(1,2,0.0)"}


def go_back() -> None:
    import streamlit as st

    from ui import history, session

    session.begin()
    known = {name: st.session_state[name] for name in ("session_id", "text")}
    session.set_text(st.query_params["typed"])
    session.choose("what", "scores", "weights")
    session.move(layer=3)
    st.query_params.from_dict({"layer": "1", "head": "2"})
    moved, history.moved = history.moved, lambda: True
    try:
        session.begin()
    finally:
        history.moved = moved
    st.session_state["the same session"] = st.session_state["session_id"] == known["session_id"]


def test_who_goes_back_looks_where_the_address_says():
    state = run(go_back, {"typed": "another text"}).session_state
    assert state["place"] == Place(layer=1, head=2)
    assert (state["text"], state["choices"]) == (DEFAULT_TEXT, {})
    assert state["the same session"]


def test_a_text_too_long_for_an_address_stays_when_its_reader_goes_back():
    long = "x" * (LONGEST_TEXT_IN_ADDRESS + 1)
    assert run(go_back, {"typed": long}).session_state["text"] == long
