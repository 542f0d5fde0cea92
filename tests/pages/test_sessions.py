"""Two sessions of one server never see anything of each other, and what a first visit begins with."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from analysis.examples import examples_of
from tests.ui.driving import beside_head, open_app, payload, send, type_text
from ui.state.url_state import DEFAULT_TEXT

MINE, YOURS = "My quokka says hello", "Your zeppelin answers nothing"


def everything(app: AppTest) -> bytes:
    """All bytes that went to this session's browser, and all it keeps."""
    sent = b"".join(element.proto.SerializeToString() for element in app if getattr(element, "proto", None) is not None)
    return sent + repr(app.session_state.to_dict()).encode() + repr(app.query_params).encode()


def test_a_text_never_reaches_another_session():
    mine, yours = open_app(text=MINE), open_app()
    type_text(yours, YOURS)
    type_text(mine, MINE + " again")
    send(yours, "head_grid", "head", [1, 1])
    mine.run()
    for app, own, others in ((mine, b"quokka", b"zeppelin"), (yours, b"zeppelin", b"quokka")):
        assert own in everything(app)
        assert others not in everything(app)


def test_a_place_and_choices_are_a_sessions_own():
    mine, yours = open_app(text=MINE), open_app(text=MINE)
    send(mine, "head_grid", "head", [2, 5])
    mine.selectbox(key="heads.metric").set_value("entropy")
    mine.run()
    before = yours.query_params
    yours.run()
    assert yours.query_params == before
    assert beside_head(yours) == {"text": MINE}
    assert payload(yours, "head_grid")[0]["selected"] != [2, 5]
    assert payload(yours, "head_grid")[0]["texts"]["metric"] == "previous token"


def test_a_language_is_a_sessions_own():
    mine, yours = open_app(lang="zh"), open_app()
    mine.run()
    assert mine.text_area(key="text_box").label != yours.text_area(key="text_box").label
    assert yours.run().text_area(key="text_box").label == "Text"


def test_what_is_wrong_with_one_sessions_address_is_told_to_that_session_alone():
    mine, yours = open_app(layer="99"), open_app()
    assert len(mine.info) == 1
    assert len(yours.run().info) == 0


@pytest.mark.parametrize(
    "address, text",
    [
        ({}, "猫看见了狗，它"),
        ({"lang": "en"}, examples_of("default", "en")[0].text),
        ({"layer": "3", "head": "5"}, DEFAULT_TEXT),
        ({"text": "Hello there"}, "Hello there"),
    ],
)
def test_a_first_visit_in_chinese_begins_with_a_chinese_text_and_a_copied_address_with_its_own(address, text):
    app = open_app(locale="zh-CN", **address)
    assert app.text_area(key="text_box").value == text
