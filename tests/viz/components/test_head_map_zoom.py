"""Zoom and pan of the head map: wheel, fingers, keys and buttons, and the host's answers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.viz.components import shim
from tests.viz.components.clock import settle, wait
from tests.viz.components.map_page import cell, wait_for_window
from tests.viz.components.mounted import answer, calls, facts
from tests.viz.components.test_head_map import head_map
from viz.color import palette
from viz.components.head_map.head_map import SOURCE

pytestmark = pytest.mark.browser


def test_the_wheel_scrolls_the_page_until_the_map_has_the_focus(mount):
    page = mount(SOURCE, head_map(n=40), style="section{max-width:640px} body{height:3000px}")
    page.mouse.move(*cell(page, 20, 10))
    page.mouse.wheel(0, 120)
    page.wait_for_function("window.scrollY >= 100")
    page.mouse.wheel(0, -200)  # upwards it would zoom in
    page.wait_for_function("window.scrollY === 0")
    assert facts(page)["zoomed"] == "false"
    page.locator("canvas").focus()
    page.mouse.move(*cell(page, 20, 10))
    page.mouse.wheel(0, -240)
    wait_for_window(page)
    assert page.evaluate("window.scrollY") == 0
    assert facts(page)["zoomed"] == "true"


def test_zooming_keeps_the_cell_under_the_pointer_and_asks_for_whole_units(mount):
    page = mount(SOURCE, head_map(n=64))
    x, y = cell(page, 48, 16)
    page.locator("canvas").focus()
    page.mouse.move(x, y)
    for _ in range(4):
        page.mouse.wheel(0, -120)
    wait_for_window(page)
    wait(page, 200)
    after = cell(page, 48, 16)
    q0, q1, k0, k1 = calls(page, "window")[-1]
    zoom = 64 / (q1 - q0)  # wheel events tell whole pixels, so the anchor may be one unzoomed pixel off
    assert abs(after[0] - x) < zoom
    assert abs(after[1] - y) < zoom
    assert q1 - q0 == k1 - k0 < 64  # a square view stays square
    assert q0 <= 48 < q1
    assert k0 <= 16 < k1


def test_a_burst_of_gestures_asks_the_host_once(mount):
    page = mount(SOURCE, head_map(n=64))
    page.locator("canvas").evaluate(
        "canvas => { for (let i = 0; i < 5; i++) canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '+' })) }"
    )
    wait_for_window(page)
    wait(page, 250)
    assert calls(page, "window") == [[28, 36, 28, 36]]  # 64 / 1.5^5 = 8.4 units about the middle


def test_plus_minus_and_zero_zoom_in_out_and_back(mount):
    page = mount(SOURCE, head_map(n=64))
    canvas = page.locator("canvas")
    span = []
    for key in ("+", "+", "-", "0"):
        canvas.press(key)
        settle(page)
        q0, q1, _, _ = map(float, facts(page)["view"].split(","))
        span.append(q1 - q0)
    assert span == pytest.approx([64 / 1.5, 64 / 2.25, 64 / 1.5, 64])


def test_buttons_zoom_for_those_without_wheel_or_keys(mount):
    page = mount(SOURCE, head_map(n=64))
    closer, farther, whole = (page.get_by_role("button", name=name) for name in ("Zoom in", "Zoom out", "Whole map"))
    assert farther.is_disabled()
    closer.click()
    wait_for_window(page)
    assert facts(page)["zoomed"] == "true"
    whole.click()
    wait_for_window(page, 2)
    assert calls(page, "window")[-1] == [0, 64, 0, 64]


def test_a_short_text_needs_no_zoom_buttons(mount):
    page = mount(SOURCE, head_map(n=9))
    assert page.get_by_role("button").count() == 0


def test_a_drag_pans_a_zoomed_map_and_pins_nothing(mount):
    page = mount(SOURCE, head_map(n=64, window=(20, 40, 20, 40)))
    x, y = cell(page, 30, 30)
    plot = json.loads(facts(page)["geometry"])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - plot["width"] / 20 * 3, y + plot["height"] / 20 * 5, steps=4)
    page.mouse.up()
    wait_for_window(page)
    assert calls(page, "window")[-1] == [15, 35, 23, 43]
    assert calls(page, "cell") == []


def test_two_fingers_zoom(mount):
    page = mount(SOURCE, head_map(n=64))
    page.locator("canvas").evaluate(
        """(canvas, [x, y]) => {
            const finger = (type, id, dx) => canvas.dispatchEvent(new PointerEvent(type, {
                pointerId: id, pointerType: "touch", clientX: x + dx, clientY: y, bubbles: true }))
            canvas.setPointerCapture = () => {} // these fingers are not real
            finger("pointerdown", 1, -40); finger("pointerdown", 2, 40)
            finger("pointermove", 1, -80); finger("pointermove", 2, 80)
            finger("pointerup", 1, -80); finger("pointerup", 2, 80)
        }""",
        list(cell(page, 32, 32)),
    )
    wait_for_window(page)
    (q0, q1, k0, k1) = calls(page, "window")[-1]
    assert q1 - q0 == k1 - k0 == 32  # twice as far apart: half as much in view
    assert calls(page, "cell") == []


def test_while_waiting_the_old_tile_stays_scaled_where_it_belongs(mount):
    values = np.zeros((64, 64), dtype=np.float32)
    values[40, 20] = 1
    page = mount(SOURCE, head_map(n=64, values=values))
    page.locator("canvas").evaluate("canvas => canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }))")
    wait_for_window(page)
    assert facts(page)["waiting"] == "true"
    assert shim.color_at(page, *cell(page, 40, 20))[:3] == palette()["sequential"]["light"][-1][1:]
    assert shim.color_at(page, *cell(page, 41, 22))[:3] == palette()["sequential"]["light"][0][1:]
    window = tuple(calls(page, "window")[-1])
    answer(page, head_map(n=64, window=window))
    assert facts(page)["waiting"] == "false"
    assert facts(page)["view"] == ",".join(map(str, window))


def test_a_tile_that_answers_an_earlier_wish_does_not_move_the_view(mount):
    page = mount(SOURCE, head_map(n=64))
    page.locator("canvas").press("+")
    wait_for_window(page)
    first = tuple(calls(page, "window")[-1])
    page.locator("canvas").press("+")
    wait_for_window(page, 2)
    view = facts(page)["view"]
    answer(page, head_map(n=64, window=first))
    assert facts(page)["view"] == view
    answer(page, head_map(n=64, window=tuple(calls(page, "window")[-1])))
    assert facts(page)["waiting"] == "false"


def test_another_text_shows_its_own_window_whatever_was_asked_before(mount):
    page = mount(SOURCE, head_map(n=64))
    page.locator("canvas").press("+")
    wait_for_window(page)
    answer(page, head_map(n=30))
    assert facts(page)["view"] == "0,30,0,30"


def test_a_pin_moved_out_of_sight_takes_the_view_along(mount):
    page = mount(SOURCE, head_map(n=64, window=(20, 40, 20, 40), selected=(39, 30)))
    page.locator("canvas").press("ArrowDown")
    wait_for_window(page)
    q0, q1, _, _ = calls(page, "window")[-1]
    assert q0 <= 40 < q1
