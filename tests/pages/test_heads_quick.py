"""The clicked head's map comes before its page: the same bytes, never another's, and the page does without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import FunctionType
from weakref import ReferenceType

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from jobs.head_prefetch import HeadPrefetch
from jobs.tile_tickets import TICKETS
from model_runner import Capture
from model_runner.edit_text import written
from model_runner.local.runner import LocalRunner
from model_runner.substitution import Substituted
from tests.pages.visiting import (
    click_head,
    eventually,
    expect_address,
    expect_head,
    visit,
    wait_for_heads,
    wait_for_rest,
)
from tests.ui.driving import given, open_app, payload, send
from ui.shared.head_views import DrawnHead
from ui.shell.page import PageContext

HERE = {"layer": "3", "head": "7"}
WAYS = [
    {},
    {"heads.what": "scores", "query": "5", "key": "2"},
    {"heads.what": "value", "heads.color": "log"},
    {"heads.hide_first": "1", "query": "none"},
    {"heads.unit": "words", "lang": "zh"},
    {"heads.other": "L0H1", "lang": "zh"},
    {"window": "2,7,1,6"},
]


def at_once(app, layer: int, head: int) -> tuple[int, bytes]:
    meta = payload(app, "quick_head")[0]
    return TICKETS.answer(meta["ticket"], f"head/{meta['way']}/{layer}/{head}")


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "&".join(f"{name}={value}" for name, value in way.items()))
def test_it_is_what_the_page_then_shows(way):
    app = open_app(**HERE, **way)
    before = payload(app, "quick_head")[0]
    status, drawn = at_once(app, 2, 5)
    assert (status, bool(drawn)) == (200, True)
    app = send(app, "head_grid", "head", [2, 5])
    assert drawn == given(app, "head_map")
    assert payload(app, "head_map")[0]["of"] == [2, 5]
    after = payload(app, "quick_head")[0]
    assert after["of"] != before["of"]
    assert after | {"of": 0} == before | {"of": 0}  # nothing else is new


def test_what_is_read_otherwise_on_the_page_is_not_given():
    app = open_app(**HERE, **{"heads.other": "L0H1"})
    assert at_once(app, 0, 1) == (200, b"")  # the head itself that is compared with
    assert at_once(app, 0, 8) == (200, b"")
    app = open_app(
        **HERE, edits=written((Substituted("linear", (), (3,), (5,)),)), everywhere="1", **{"heads.what": "scores"}
    )
    assert at_once(app, 3, 5) == (200, b"")  # no scores without a softmax: the page says so and shows its map
    assert at_once(app, 1, 5)[1]


def test_it_keeps_no_model_and_no_text_that_are_given_up():
    app = open_app(**HERE)
    assert at_once(app, 2, 5)[0] == 200
    quick = TICKETS._held[payload(app, "quick_head")[0]["ticket"]]
    assert isinstance(quick, HeadPrefetch)
    held = [*reached(quick._draw), *reached(quick._made), *reached(quick._way)]
    assert any(isinstance(one, ReferenceType) and isinstance(one(), Capture) for one in held)
    assert not any(isinstance(one, Capture | LocalRunner | PageContext | DrawnHead) for one in held)


def reached(held: object) -> Iterator[object]:
    """A thing, what functions hold, and what is in tuples and dataclasses."""
    yield held
    if isinstance(held, FunctionType):
        parts = [cell.cell_contents for cell in held.__closure__ or ()]
    elif is_dataclass(held):
        parts = [getattr(held, one.name) for one in fields(held)]
    else:
        parts = list(held) if isinstance(held, tuple) else []
    for part in parts:
        yield from reached(part)


@pytest.mark.browser
def test_it_is_painted_before_the_page_has_run(page: Page, server):
    """While the page's run is kept back, as a busy server does: the map is the head's, and the last click's."""
    held: list[tuple[WebSocketRoute, str | bytes]] = []
    keep = False

    def between(socket: WebSocketRoute):
        server_side = socket.connect_to_server()
        socket.on_message(lambda message: held.append((server_side, message)) if keep else server_side.send(message))
        server_side.on_message(socket.send)

    page.route_web_socket("**/_stcore/stream", between)
    wait_for_heads(visit(page, server, **HERE))
    wait_for_rest(page)
    keep = True
    for layer, head in ((2, 5), (1, 3), (4, 2)):
        click_head(page, layer, head)
        expect(page.get_by_role("img", name=f"L{layer}H{head}:").first).to_be_visible()
    eventually(page, lambda: len(held), lambda count: count >= 3)  # what was told of the clicks waits
    keep = False
    for server_side, message in held:
        server_side.send(message)
    expect_head(page, "L4H2")
    expect_address(page, layer="4", head="2")


@pytest.mark.long
@pytest.mark.browser
def test_without_it_the_page_answers_alone(page: Page, server):
    asked: list[str] = []

    def refuse(route: Route):
        asked.append(route.request.url)
        route.fulfill(body=b"")

    page.route("**/maps/head/**", refuse)
    wait_for_heads(visit(page, server, **HERE))
    click_head(page, 2, 5)
    expect_head(page, "L2H5")
    expect(page.get_by_role("img", name="L2H5:").first).to_be_visible()
    assert len(asked) == 1
