"""Every option of every menu, row and switch of every view, chosen one after the other: nothing fails."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from pages.entries import ENTRIES
from tests.pages.test_browser_axe import VIEWS
from tests.ui.driving import open_app

pytestmark = pytest.mark.table  # every option of a view

FILES = {entry.address: entry.file for entry in ENTRIES}
ELSEWHERE = {"choice_lang", "model_box", "device", "dtype"}  # of every page, and tested of each
EVERY = [
    pytest.param(path, address, marks=[] if path == "zoo" and not number else [pytest.mark.long], id=f"{path}-{number}")
    for path, views in VIEWS.items()
    if path != "next_token"  # what is chosen there is the bench's own: tests/pages/test_next_token.py
    for number, address in enumerate(views)
]


def options(app: AppTest) -> list[tuple[str, str, str]]:
    """What can be chosen: the widget's kind and id, and the words of the option."""
    rows = [(one, [each.content for each in one.proto.options]) for one in app.button_group]
    menus = [(one, list(one.proto.options)) for one in app.selectbox]
    assert {one.key for one, _ in (*rows, *menus)} >= ELSEWHERE
    return [
        (type(one.proto).__name__, one.proto.id, words)
        for one, every in (*rows, *menus, *((one, ["on", "off"]) for one in app.toggle))
        if not one.disabled and one.key not in ELSEWHERE
        for words in every
    ]


def choose(app: AppTest, kind: str, identity: str, words: str) -> None:
    """As a browser says it: by the words of the option."""
    states = app._tree.get_widget_states()
    held: Any = next(state for state in states.widgets if state.id == identity)
    if kind == "ButtonGroup":
        held.string_array_value.data[:] = [words]
    elif kind == "Selectbox":
        held.string_value = words
    else:
        held.bool_value = words == "on"
    app._run(states)


@pytest.mark.parametrize("path, address", EVERY)
def test_nothing_fails(path: str, address: str) -> None:
    place = dict(parse_qsl(address, keep_blank_values=True))
    app = open_app(page=FILES[path], **place)
    every = options(app)
    assert every
    for kind, identity, words in every:
        if all(one != (kind, identity, words) for one in options(app)):
            app = open_app(page=FILES[path], **place)  # what was chosen before took it away
        try:
            choose(app, kind, identity, words)
        except AssertionError as failed:
            raise AssertionError(f"{identity}: {words}") from failed
