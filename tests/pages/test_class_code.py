"""The code of a room for the projector: its picture is the room's own link, as its teacher reaches the server."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote

import pytest
import segno
import streamlit as st

from tests.ui.driving import button, html, open_app, sentences
from ui.state import session
from ui.state.url_state import DEFAULT_TEXT

BORDER = 4  # modules of white around it, as ISO/IEC 18004 asks for


def modules(shown: str) -> list[list[int]]:
    """The dark modules of the one QR code on a page as rows of 0 and 1, read off the lines of its SVG."""
    (address,) = re.findall(r"<img class='atlas-qr' alt='[^']+' src='([^']+)'", shown)
    svg = unquote(unescape(address).removeprefix("data:image/svg+xml;charset=utf-8,"))
    (width,) = re.findall(r"width='(\d+)'", svg)
    (scale,) = re.findall(r"scale\((\d+)\)", svg)
    size = int(width) // int(scale) - 2 * BORDER
    found = [[0] * size for _ in range(size)]
    (path,) = re.findall(r"stroke='#000' d='([^']+)'", svg)
    x = y = 0.0
    for kind, first, second in re.findall(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?", path):
        if kind == "h":
            for at in range(int(first)):
                found[int(y) - BORDER][int(x) + at - BORDER] = 1
            x += int(first)
        else:
            start = (0.0, 0.0) if kind == "M" else (x, y)
            x, y = start[0] + float(first), start[1] + float(second)
    return found


@pytest.mark.parametrize(
    "url, base, root",
    [
        ("https://atlas.school.org/at/las/", "/at/las", "https://atlas.school.org/at/las"),
        ("https://atlas.school.org/at/las/cell", "at/las/", "https://atlas.school.org/at/las"),
        ("http://192.168.1.20:8501/", "", "http://192.168.1.20:8501"),
        ("https://[fd00::7]:8443/", "", "https://[fd00::7]:8443"),
    ],
)
def test_the_picture_is_the_link_to_the_room_with_its_base_path_and_scheme(monkeypatch, url, base, root):
    given = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: base if name == "server.baseUrlPath" else given(name))
    app = open_app()
    app.context["url"] = url
    app.button(key="open_room").click().run()
    link = f"{root}/join/{app.session_state['room'].code}"
    expected = segno.make(link, error="m", micro=False)
    assert modules(html(app)) == [[int(cell) for cell in row] for row in expected.matrix]
    # as a <bdi>, in which the glossary looks for no words: page_text.js
    assert f"<b><bdi>{root.split('://')[1]}/join</bdi></b>" in html(app)
    assert sentences(app) == []


def test_an_address_of_this_machine_alone_is_said_to_be_one():
    app = open_app()
    app.context["url"] = "http://127.0.0.1:8501/"
    app.button(key="open_room").click().run()
    assert sentences(app) == [
        "This address is only found on this machine: phones need the one of a server on their network."
    ]


def test_a_lesson_that_is_opened_while_the_code_stands_is_seen_and_the_code_does_not_come_back(monkeypatch):
    app = open_app()
    app.button(key="open_room").click().run()
    assert button(app, "hide_code")
    room = app.session_state["room"]
    monkeypatch.setattr(
        session, "is_history_navigation", lambda: True
    )  # each run below is at the address that it is given
    given = {"text": DEFAULT_TEXT, "layer": "6", "head": "4"}
    for more, page in (({"lesson": "attention"}, "poll"), ({}, "")):  # its step asks before it shows
        app.query_params.clear()
        app.query_params.update(given | more)
        app.run()
        assert "class='atlas-qr'" not in html(app)
        assert room.board._stage["page"] == page
    assert sentences(app) == []


@pytest.mark.parametrize("address", [{"model": "translator"}, {"text": " "}, {"text": "far too long " * 1000}])
def test_a_page_that_ends_with_a_sentence_has_its_sidebar_and_comes_to_its_end_for_the_class(address):
    app = open_app(page="pages/long_texts/page.py", **address)
    said = sentences(app)
    app.button(key="open_room").click().run()
    app.button(key="hide_code").click().run()  # all stands as before: the sidebar comes last
    assert len(said) == 1
    assert sentences(app) == said
    assert app.text_area(key="text_box").value == app.session_state["text"]
    assert app.session_state["room"].board._stage["text"] == app.session_state["text"]
