"""Zoom and pan of the long map in a browser, over tiles that a made server gives: one strong cell on a dark map."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.viz.components import shim
from tests.viz.components.clock import settle, wait
from tests.viz.components.mounted import facts
from tests.viz.components.test_long_map import whole_map
from viz.color import palette
from viz.components.long_map.long_map import SOURCE

pytestmark = pytest.mark.browser

HOME = "http://127.0.0.1:9/long"  # answered by the test itself, as are the tiles
TOKENS, SIDE, LAST = 600, 256, 2
STRONG = (410, 130)  # the one cell with a weight
HEARD = """() => {
  window.words = []
  const fill = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
    if (this.canvas.closest(".figure")) window.words.push(text.replaceAll(/[\\u2066-\\u2069]/g, ""))
    return fill.call(this, text, ...at)
  }
}"""


def tile(zoom: int, x: int, y: int) -> bytes:
    """Largest, mean, and both of the first token, as float16; NaN above the diagonal."""
    cells, at = 2 ** (LAST - zoom), np.arange(SIDE)
    rows, columns = (y * SIDE + at)[:, None] * cells, (x * SIDE + at) * cells
    pixels = np.where(columns <= rows + cells - 1, 0.0, np.nan)
    strong = (rows <= STRONG[0]) & (STRONG[0] < rows + cells) & (columns <= STRONG[1]) & (STRONG[1] < columns + cells)
    pixels = np.where(strong, 1.0, pixels).astype("<f2").tobytes()
    return 2 * pixels + 2 * np.zeros(SIDE, "<f2").tobytes()


@pytest.fixture
def opened(sheet: Any) -> Iterator[Callable[..., Any]]:
    """The map in a window, once none of its tiles is missing; ``page.asked`` are the places that it asked for."""

    def show(*, busy: bool = False, looks: bytes = b"[]", **changes: Any) -> Any:
        html = shim.page(
            (SOURCE, whole_map(ticket="t", **changes)), style="section{max-width:900px} body{height:3000px}"
        )

        def answer(route: Any) -> None:
            what, *numbers = route.request.url.split("/maps/")[1].split("/")
            place = "/".join([what, *numbers])
            sheet.asked.append(place)
            if busy and sheet.asked.count(place) == 1:
                route.fulfill(status=503)
                return
            route.fulfill(body=tile(*map(int, numbers[2:])) if what == "tile" else looks)

        sheet.asked = []
        sheet.set_viewport_size({"width": 1000, "height": 800})
        sheet.route("http://127.0.0.1:9/maps/**", answer)
        sheet.route(HOME, lambda route: route.fulfill(body=html, content_type="text/html"))
        sheet.goto(HOME)
        sheet.wait_for_function("window.ready")
        loaded(sheet)
        sheet.evaluate(HEARD)
        return sheet

    yield show
    sheet.unroute_all()


def loaded(page: Any) -> None:
    page.locator(".long-map[data-missing='0']").wait_for()
    settle(page)


def view(page: Any) -> tuple[float, float, float, float]:
    q0, q1, k0, k1 = map(float, facts(page)["view"].split(","))
    return q0, q1, k0, k1


def span(page: Any) -> float:
    q0, q1, k0, k1 = view(page)
    assert q1 - q0 == pytest.approx(k1 - k0)
    return q1 - q0


def cell(page: Any, query: int, key: int) -> tuple[float, float]:
    """The middle of a cell, in the window."""
    plot, (q0, q1, k0, k1) = json.loads(facts(page)["geometry"]), view(page)
    box = page.locator(".long-map .figure canvas").bounding_box()
    return (
        box["x"] + plot["x"] + (key + 0.5 - k0) / (k1 - k0) * plot["width"],
        box["y"] + plot["y"] + (query + 0.5 - q0) / (q1 - q0) * plot["height"],
    )


def told(page: Any) -> list[Any]:
    """The windows that the host was told, once the view rests."""
    wait(page, 600)
    return [value for _, name, value in page.evaluate("window.calls") if name == "window"]


def canvas(page: Any) -> Any:
    return page.locator(".long-map .figure canvas")


def test_what_a_busy_server_does_not_give_at_once_is_asked_for_once_more_after_a_while(
    opened: Any,
    _sheet: Any,  # noqa: PT019  # whose watch hears that the browser tells of each 503
) -> None:
    page = opened(busy=True)
    page.get_by_text("None: the text is shorter than that").wait_for()  # of far looks; before, they are looked for
    wait(page, 2500)
    asked = {place: page.asked.count(place) for place in page.asked}
    assert {name.split("/")[0] for name in asked} == {"tile", "far"}
    assert set(asked.values()) == {2}
    _sheet.watch.errors[:] = [one for one in _sheet.watch.errors if "503" not in one]


def test_the_wheel_scrolls_until_the_map_has_the_focus_and_keeps_the_cell_under_the_pointer(opened: Any) -> None:
    page = opened()
    page.mouse.move(*cell(page, *STRONG))
    page.mouse.wheel(0, 120)
    page.wait_for_function("window.scrollY >= 100")
    assert span(page) == TOKENS
    page.mouse.wheel(0, -400)
    page.wait_for_function("window.scrollY === 0")
    canvas(page).focus()
    at = cell(page, *STRONG)
    page.mouse.move(*at)
    for _ in range(8):
        page.mouse.wheel(0, -120)
        settle(page)
    q0, q1, k0, k1 = told(page)[-1]  # until then the view moves once more, by half a token: a third of a cell here
    loaded(page)
    assert view(page) == (q0, q1, k0, k1)
    assert page.evaluate("window.scrollY") == 0
    assert span(page) == pytest.approx(TOKENS * np.exp(-0.003 * 120 * 8), abs=0.5)  # at rest, whole tokens
    assert cell(page, *STRONG) == pytest.approx(at, abs=2 * TOKENS / span(page))  # whole pixels of the wheel, zoomed
    assert facts(page)["zoom"] == str(LAST)
    assert f"tile/2/1/{LAST}/0/1" in page.asked  # of layer 2, head 1: where the strong cell is
    top, bottom = (palette()["sequential"]["light"][end][1:] for end in (-1, 0))
    assert shim.color_at(page, *cell(page, *STRONG))[:3] == top
    assert shim.color_at(page, *cell(page, STRONG[0] + 1, STRONG[1] + 1))[:3] == bottom
    assert q0 <= STRONG[0] < q1
    assert k0 <= STRONG[1] < k1


def test_keys_and_buttons_zoom_about_the_pinned_cell_in_and_out_and_back(opened: Any) -> None:
    page = opened(selected=STRONG)
    closer, farther, whole = (page.get_by_role("button", name=name) for name in ("zoom in", "zoom out", "whole text"))
    assert (closer.is_disabled(), farther.is_disabled(), whole.is_disabled()) == (False, True, True)
    spans = []
    for key in ("+", "=", "-", "_", "+", "0"):
        canvas(page).press(key)
        spans.append(span(page))
    assert spans == pytest.approx([TOKENS / by for by in (1.5, 2.25, 1.5, 1, 1.5, 1)], abs=1)  # whole tokens at rest
    at = cell(page, *STRONG)
    closer.click()
    closer.click()
    farther.click()
    assert span(page) == pytest.approx(TOKENS / 1.5)
    assert cell(page, *STRONG) == pytest.approx(at, abs=1)
    assert told(page)[-1] == [137, 537, 44, 444]  # whole tokens about the pinned cell
    whole.click()
    assert told(page)[-1] is None
    assert whole.is_disabled()
    for _ in range(12):
        canvas(page).press("+")
    assert span(page) == pytest.approx(6)  # closer is none
    assert closer.is_disabled()


@pytest.mark.long
def test_labels_are_tokens_where_they_fit_and_else_positions(opened: Any) -> None:
    page = opened(selected=STRONG)
    for key in ["+"] * 3:
        canvas(page).press(key)
    page.evaluate("window.words = []")
    canvas(page).press("-")
    settle(page)
    words = page.evaluate("window.words")
    assert "·w410" in words  # the pinned row is named however far away
    assert "·w130" in words
    assert {word for word in words if word.isdigit()} >= {"300", "400"}
    assert sum(word.startswith("·w") for word in set(words)) == 2
    canvas(page).press("0")
    for _ in range(8):  # 600 / 1.5^8 = 23 tokens
        canvas(page).press("+")
    page.evaluate("window.words = []")
    canvas(page).press("ArrowDown")
    loaded(page)
    words = set(page.evaluate("window.words"))
    q0, q1, k0, k1 = view(page)
    inside = {f"·w{token}" for start, stop in ((q0, q1), (k0, k1)) for token in range(int(start) + 1, int(stop))}
    assert inside <= words
    assert "each pixel: one cell" in words


@pytest.mark.parametrize(
    "pooling, said", [("max", "each pixel: largest of 2 × 2 cells"), ("mean", "each pixel: mean of 2 × 2 cells")]
)
def test_what_a_pixel_stands_for_is_said_and_that_the_first_token_stands_apart(
    opened: Any, pooling: str, said: str
) -> None:
    page = opened(pooling=pooling)
    canvas(page).press("+")
    page.evaluate("window.words = []")
    canvas(page).press("-")  # painted once more, and on the way there
    settle(page)
    words = page.evaluate("window.words")
    assert [word for word in words if word.startswith("each pixel")][-1] == said
    assert "the first token is shown apart" in words
    for _ in range(4):
        canvas(page).press("+")
    loaded(page)
    page.evaluate("window.words = []")
    canvas(page).press("+")
    loaded(page)
    words = page.evaluate("window.words")
    assert {word for word in words if word.startswith("each pixel")} == {"each pixel: one cell"}
    assert "the first token is shown apart" not in words  # where no cells are pooled, it is a column like others


@pytest.mark.long
def test_two_fingers_zoom_and_one_pans(opened: Any) -> None:
    page = opened()
    x, y = cell(page, 300, 300)
    fingers = """(canvas, [x, y, moves]) => {
        canvas.setPointerCapture = () => {} // these fingers are not real
        for (const [type, id, dx, dy] of moves) canvas.dispatchEvent(new PointerEvent(type, {
            pointerId: id, pointerType: "touch", clientX: x + dx, clientY: y + dy, bubbles: true }))
    }"""
    pinch = [
        ["pointerdown", 1, -40, 0], ["pointerdown", 2, 40, 0], ["pointermove", 1, -80, 0], ["pointermove", 2, 80, 0],
        ["pointerup", 1, -80, 0], ["pointerup", 2, 80, 0],
    ]  # fmt: skip
    canvas(page).evaluate(fingers, [x, y, pinch])
    assert span(page) == pytest.approx(TOKENS / 2)  # twice as far apart: half as much in view
    assert cell(page, 300, 300) == pytest.approx((x, y), abs=2)
    pixel = json.loads(facts(page)["geometry"])["width"] / span(page)
    before = view(page)
    pan = [["pointerdown", 3, 0, 0], ["pointermove", 3, 30, 20], ["pointerup", 3, 30, 20]]
    canvas(page).evaluate(fingers, [x, y, pan])
    after = view(page)
    assert before[0] - after[0] == pytest.approx(20 / pixel, abs=0.01)
    assert before[2] - after[2] == pytest.approx(30 / pixel, abs=0.01)
    assert [call for call in page.evaluate("window.calls") if call[1] == "cell"] == []


@pytest.mark.long
def test_a_press_on_the_small_map_brings_the_view_there_and_a_drag_takes_it_along(opened: Any) -> None:
    page = opened()
    for _ in range(4):
        canvas(page).press("+")
    size = span(page)
    mini = page.get_by_role("img", name="The whole map at a glance")
    box = mini.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.75)
    page.mouse.down()
    q0, q1, k0, k1 = view(page)
    assert ((q0 + q1) / 2, (k0 + k1) / 2) == pytest.approx((0.75 * TOKENS, 0.25 * TOKENS), abs=5)
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.6, steps=3)
    page.mouse.up()
    q0, q1, k0, k1 = view(page)
    assert ((q0 + q1) / 2, (k0 + k1) / 2) == pytest.approx((0.6 * TOKENS, 0.5 * TOKENS), abs=5)
    assert span(page) == pytest.approx(size)
    page.mouse.click(box["x"] + 1, box["y"] + box["height"] - 1)  # into a corner: as far as the text goes
    assert view(page) == pytest.approx((TOKENS - size, TOKENS, 0, size), abs=0.01)


@pytest.mark.long
def test_arrows_pan_while_nothing_is_pinned_and_ctrl_and_the_wheel_zoom_without_focus(opened: Any) -> None:
    page = opened(selected=None)
    page.mouse.move(*cell(page, 300, 300))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -120)
    page.keyboard.up("Control")
    settle(page)
    assert span(page) == pytest.approx(TOKENS * np.exp(-0.006 * 120), abs=0.5)
    q0, q1, k0, k1 = view(page)
    canvas(page).press("ArrowDown")
    canvas(page).press("ArrowLeft")
    by = (q1 - q0) / 8
    assert view(page) == pytest.approx((q0 + by, q1 + by, k0 - by, k1 - by), abs=0.01)
