"""A session's selection and its URL: opened in another session, the URL restores the same selection."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from analysis.examples import EXAMPLES
from analysis.long_text import chapter
from ui.state import text_in_url
from ui.state.selection import Selection, UrlWindow
from ui.state.session import DEFAULT_TEXT, UNREADABLE_TEXT


def run(script: Callable[[], None], address: dict[str, Any] | None = None) -> AppTest:
    """A script run as a session's first, at this address."""
    app = AppTest.from_function(script, default_timeout=60)
    app.query_params.update(address or {})
    app.run()
    assert not app.exception
    return app


def open_and_mirror() -> None:
    import streamlit as st

    from ui.state import session, url_state

    session.begin()
    st.session_state["told"] = session.take_problems()
    st.session_state["told again"] = session.take_problems()
    st.session_state["place"] = session.selection()
    url_state.write()


LONG = "".join(f"{number}. Это длинный текст + %20 & <b>\n" for number in range(300))
PACKED = base64.urlsafe_b64encode(zlib.compress(LONG.encode(), 9)).decode().rstrip("=")
TOO_LONG = Random(0).randbytes(5000).hex()  # 8 bits in two characters: nothing packs them into fewer than 6,667
WHOLE = chapter().whole
ADDRESSES = [
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
    {
        "heads.what": "scores",
        "heads.color": "log",
        "heads.hide_first": "1",
        "heads.metric": "induction",
        "lang": "zh",
        "unheard": "of",
    },
    {"text": "x" * text_in_url.LONGEST_PLAIN},
    {"textz": PACKED, "layer": "3"},
    {"chapter": str(len(WHOLE)), "layer": "3"},
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_session_writes_the_address_it_was_opened_at(address):
    assert run(open_and_mirror, address).query_params == address


def test_a_first_visit_has_its_text_in_the_address():
    app = run(open_and_mirror, {})
    assert app.query_params == {"text": EXAMPLES[0].text}
    assert run(open_and_mirror, dict(app.query_params)).session_state["text"] == EXAMPLES[0].text


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_gives_two_sessions_the_same_place_but_not_the_same_name(address):
    first, second = run(open_and_mirror, address), run(open_and_mirror, address)
    for part in ("model", "text", "place", "parts"):
        assert first.session_state[part] == second.session_state[part]
    assert first.session_state["session_id"] != second.session_state["session_id"]


def test_every_part_of_an_address_is_read():
    app = run(open_and_mirror, {"model": " m ", "text": "t", "layer": "1", "head": "2", "query": "3", "key": "4",
                                "window": "5-6-7-8", "metric": "entropy"})  # fmt: skip
    assert app.session_state["place"] == Selection(1, 2, 3, 4, UrlWindow(5, 6, 7, 8))
    assert (app.session_state["model"], app.session_state["text"]) == ("m", "t")
    assert app.session_state["parts"]["heads.metric"] == "entropy"


def test_what_is_at_its_default_has_no_place_in_the_address():
    app = run(open_and_mirror, {"text": DEFAULT_TEXT, "model": "default", "query": "-1"})
    assert app.query_params == {}


@pytest.mark.parametrize(
    "text, parts",
    [
        (LONG, {"textz": PACKED}),
        (TOO_LONG, {}),
        (WHOLE, {"chapter": str(len(WHOLE))}),
        (WHOLE[:-9], {"chapter": str(len(WHOLE) - 9)}),
        (WHOLE + ".", {}),
    ],
    ids=["packed", "too long", "the long text of the app", "cut", "and more"],
)
def test_a_long_text_is_packed_into_the_address_and_a_longer_one_left_out_and_kept(text, parts):
    app = run(open_and_mirror, {"text": text, "layer": "3"})
    assert app.query_params == {**parts, "layer": "3"}
    assert app.session_state["text"] == text


BROKEN = {
    "cut off": PACKED[:-9],
    "another letter": PACKED[:99] + "AAAA" + PACKED[103:],
    "no base64": "not base64 at all!",
    "no packed text": "aGVsbG8",
    "more after its end": base64.urlsafe_b64encode(zlib.compress(b"x") + b"more").decode(),
    "no characters": base64.urlsafe_b64encode(zlib.compress(b"\xff\xfe")).decode(),
    "megabytes of zeros": base64.urlsafe_b64encode(zlib.compress(bytes(4_000_000))).decode(),
    "not as addresses write it": "é" * 40,
    "too many characters": "A" * 100_000,
    "nothing": "",
}


COUNTS = ("", "-1", "²", "9" * 9)  # of characters
UNREADABLE = [*({"textz": packed} for packed in BROKEN.values()), *({"chapter": count} for count in COUNTS)]


@pytest.mark.parametrize("part", UNREADABLE, ids=[*BROKEN, *COUNTS])
def test_a_long_text_that_cannot_be_read_is_said_once_and_the_first_text_shown(part):
    app = run(open_and_mirror, {**part, "layer": "3"})
    assert app.session_state["told"] == {"text": UNREADABLE_TEXT}
    assert app.session_state["told again"] == {}
    assert app.session_state["text"] == DEFAULT_TEXT
    assert app.query_params == {"layer": "3"}


@pytest.mark.parametrize("name", ["layer", "head", "query", "key"])
@pytest.mark.parametrize("value", ["abc", "", "1.5", "0x10", "9" * 5000])
def test_what_is_not_a_number_is_reported_once_and_read_as_not_given(name, value):
    app = run(open_and_mirror, {name: value})
    assert list(app.session_state["told"]) == [name]
    assert value[:40] in app.session_state["told"][name]
    assert app.session_state["told again"] == {}
    assert app.query_params == {}
    assert app.session_state["place"] == Selection()


@pytest.mark.parametrize("window", ["1-2-3", "1-2-3-4-5", "a-b-c-d", "1-2-3-x", "-1--2-3-4", "-", "1"])
def test_a_window_that_is_not_four_numbers_is_reported_once_and_is_the_whole_text(window):
    app = run(open_and_mirror, {"window": window})
    assert app.session_state["place"] == Selection()
    assert list(app.session_state["told"]) == ["window"]


def test_only_the_first_run_of_a_session_reads_the_address():
    app = run(open_and_mirror, {"layer": "3"})
    app.query_params["layer"] = "5"
    app.run()
    assert app.session_state["place"].layer == 3
    assert app.query_params == {"layer": "3"}


def test_the_browser_is_told_where_its_run_came_with_an_older_address(monkeypatch: pytest.MonkeyPatch):
    told: list[dict[str, str]] = []
    proxy = type(st.query_params)
    usual = proxy.from_dict
    monkeypatch.setattr(proxy, "from_dict", lambda self, parts: (told.append(parts), usual(self, parts)))

    def script() -> None:
        import streamlit as st

        from ui.state import session, url_state

        session.begin()
        session.move(layer=st.session_state.get("go to", 3))
        url_state.write()

    app = run(script, {"layer": "3"})
    app.session_state["go to"] = 5
    app.run()
    app.session_state["go to"] = 3
    app.query_params["layer"] = "3"  # not where the browser is
    app.run()
    assert told[-2:] == [{"layer": "5"}, {"layer": "3"}]
    count = len(told)
    app.run()
    assert len(told) == count


def test_another_text_forgets_positions_and_keeps_the_head():
    def script() -> None:
        from ui.state import session, url_state

        session.begin()
        session.set_text("another")
        url_state.write()

    app = run(script, {"text": "one", "layer": "3", "head": "1", "query": "2", "key": "1", "window": "0-2-0-2"})
    assert app.query_params == {"text": "another", "layer": "3", "head": "1"}


def test_the_same_text_again_forgets_nothing():
    def script() -> None:
        import streamlit as st

        from ui.state import session

        session.begin()
        session.set_text("one")
        st.session_state["place"] = session.selection()

    app = run(script, {"text": "one", "query": "2", "key": "1"})
    assert app.session_state["place"] == Selection(query=2, key=1)


def test_another_model_forgets_the_place_and_keeps_text_and_choices():
    def script() -> None:
        from ui.state import session, url_state

        session.begin()
        session.set_model("other")
        url_state.write()

    app = run(script, {"text": "one", "layer": "3", "head": "1", "query": "2", "lang": "zh"})
    assert app.query_params == {"model": "other", "text": "one", "lang": "zh"}


def test_moving_changes_only_what_is_named():
    def script() -> None:
        import streamlit as st

        from ui.state import session

        session.begin()
        session.move(head=5, query=None)
        st.session_state["place"] = session.selection()

    app = run(script, {"layer": "3", "head": "1", "query": "2", "key": "4"})
    assert app.session_state["place"] == Selection(3, 5, None, 4)


def test_a_choice_back_at_its_default_leaves_the_address():
    def script() -> None:
        from ui.state import session, url_state

        session.begin()
        url_state.choose("shape", "weights", "weights")
        url_state.choose("sort", "log", "linear")
        url_state.write()

    assert run(script, {"shape": "scores"}).query_params == {"sort": "log"}


def test_another_model_is_looked_at_without_the_edits_of_the_one_before():
    def script() -> None:
        from ui.state import session, url_state

        session.begin()
        session.set_model("another")
        url_state.write()

    app = run(script, {"edits": "ScaledHead(1,2,0.0)", "everywhere": "1"})
    assert app.query_params == {"model": "another", "edits": "ScaledHead(1,2,0.0)"}


def go_back() -> None:
    import streamlit as st

    from ui.state import session, url_state
    from ui.wording import url_warnings

    session.begin()
    known = {name: st.session_state[name] for name in ("session_id", "text")}
    session.set_text(st.query_params["typed"])
    url_state.choose("shape", "scores", "weights")
    session.move(layer=3)
    url_warnings.begin(st.empty())
    url_warnings.tell("steps", "That cannot be.")
    st.query_params.from_dict({"layer": "1", "head": "2"})
    moved, session.is_history_navigation = session.is_history_navigation, lambda: True
    try:
        session.begin()
    finally:
        session.is_history_navigation = moved
    st.session_state["place"] = session.selection()
    st.session_state["the same session"] = st.session_state["session_id"] == known["session_id"]
    url_warnings.begin(st.empty())
    url_warnings.tell("steps")  # as a run of the page does, of which nothing is wrong


def test_who_goes_back_looks_where_the_address_says_and_reads_nothing_of_another():
    app = run(go_back, {"typed": "another text"})
    assert [one.value for one in app.info] == ["That cannot be."]  # of the run before, which is one run here
    state = app.session_state
    assert state["place"] == Selection(layer=1, head=2)
    assert (state["text"], state["parts"]) == (DEFAULT_TEXT, {"layer": "1", "head": "2"})
    assert state["the same session"]


@pytest.mark.parametrize("text, found", [(TOO_LONG, TOO_LONG), (LONG, DEFAULT_TEXT)])
def test_only_a_text_that_no_address_holds_stays_when_its_reader_goes_back(text, found):
    assert run(go_back, {"typed": text}).session_state["text"] == found
