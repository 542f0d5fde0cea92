"""The teacher's session when the tab says whose room it was: given back, opened again, or refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st

from classroom.desk import RoomDesk
from tests.ui.driving import button, components, html, open_app, payload, send, sentences
from ui.classroom import sidebar
from viz.components.room_link import room_link

pytestmark = pytest.mark.table


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> RoomDesk:
    desk = RoomDesk()
    monkeypatch.setattr(sidebar, "DESK", desk)
    return desk


def test_a_tab_that_has_the_key_is_given_its_room_back_and_the_page_is_on_the_board(desk):
    room = desk.open()
    app = open_app(layer="3", head="1")
    told, _ = payload(app, "room_link")
    assert (told["key"], told["over"], told["born"]) == ("", False, desk.born)
    send(app, "room_link", "back", room.key)
    assert sentences(app) == []
    assert room.code in html(app)
    assert payload(app, "room_link")[0]["key"] == room.key
    assert any("head_map" in str(frame) for frame in room.board.since(-1)[1])
    app.button(key="end_room").click().run()
    assert button(app, "open_room")
    assert payload(app, "room_link")[0]["over"]  # the tab forgets the key


def test_on_a_server_that_was_started_again_the_room_is_open_under_its_code_and_that_is_said_until_a_question(desk):
    room = RoomDesk().open()
    app = open_app()
    send(app, "room_link", "back", room.key)
    assert room.code in html(app)
    assert sidebar.AGAIN in html(app.run())
    app.button(key="ask_ablate").click().run()
    assert sidebar.AGAIN not in html(app)


@pytest.fixture
def teaches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser in which a room was opened loads the page."""
    monkeypatch.setattr(type(st.context), "cookies", {room_link.TEACHES: "1"})


@pytest.mark.usefixtures("teaches")
def test_where_a_tab_may_have_a_room_its_page_waits_until_the_tab_has_said_so(desk):
    room = desk.open()
    app = open_app(layer="3", head="1")
    assert "Looking for your class" in html(app)
    assert "head_map" not in components(app)
    assert payload(app, "room_link")[0]["asks"]
    send(app, "room_link", "back", room.key)
    assert room.code in html(app)
    assert "head_map" in components(app)


@pytest.mark.usefixtures("teaches")
@pytest.mark.parametrize("by", ["tab", "button"])
def test_where_the_tab_has_none_or_says_nothing_the_page_is_shown(desk, by):
    app = open_app()
    if by == "tab":
        send(app, "room_link", "back", "")
    else:
        app.button(key="look_no_more").click().run()
    assert "Looking for your class" not in html(app)
    assert "head_map" in components(app)
    assert sentences(app) == []
    assert not payload(app, "room_link")[0]["asks"]


@pytest.mark.parametrize("key", [None, 3, {"key": 1}, "ended"])
def test_what_brings_no_room_back_leaves_none(desk, key):
    app = open_app()
    if key == "ended":
        room = desk.open()
        room.end()
        key = room.key
    send(app, "room_link", "back", key)
    assert len(sentences(app)) == (1 if isinstance(key, str) else 0)
    assert button(app, "open_room")
    app.run()
    assert sentences(app) == []


@pytest.mark.parametrize("first", [False, True])
def test_the_menu_of_questions_is_closed_by_one_in_the_run_that_asks_it(monkeypatch: pytest.MonkeyPatch, first: bool):
    """A menu stays open for as long as its key does; after a run that was cut off the sidebar comes first."""
    keys: list[str] = []
    opened = st.popover

    def popover(*args: Any, **options: Any) -> Any:
        keys.append(options["key"])
        return opened(*args, **options)

    monkeypatch.setattr(st, "popover", popover)
    app = open_app()
    app.button(key="open_room").click().run()
    app.button(key="hide_code").click().run()
    if first:
        del app.session_state["sidebar_shows"]
    before = next(key for key in reversed(keys) if key.startswith("ask_class_"))
    keys.clear()
    app.button(key="ask_next").click().run()
    assert [key for key in keys if key.startswith("ask_class_")] != [before]
