"""The head grid under mouse, wheel and keys, in a browser and without a server."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.viz.components import shim
from tests.viz.components.clock import wait
from tests.viz.components.mounted import answer, calls, facts
from tests.viz.components.test_head_grid import HEADS, LAYERS, TEXTS, N, grid
from viz.color import palette
from viz.components.head_grid.head_grid import SOURCE

pytestmark = pytest.mark.browser


def point(page, row, column):
    """The centre of the square in this row and column, in pixels of the window."""
    geometry = json.loads(facts(page)["geometry"])
    box = page.locator("canvas").bounding_box()
    return (
        box["x"] + geometry["left"] + (column + 0.5) * geometry["pitch"],
        box["y"] + geometry["top"] + (row + 1) * geometry["rowHeight"] - geometry["pitch"] / 2,
    )


@pytest.mark.parametrize("theme, side", [(shim.LIGHT, "light"), (shim.DARK, "dark")])
def test_thumbnails_show_weights_in_indigo_and_the_future_as_lines_across_paper(mount, theme, side):
    page = mount(SOURCE, grid(), theme=theme)
    x, y = point(page, 0, 0)
    cell = json.loads(facts(page)["geometry"])["pitch"] / N
    assert shim.color_at(page, x + cell / 2, y + cell / 2)[:3] == palette()["sequential"][side][-1][1:]
    assert shim.color_at(page, x - 2 * cell, y + 2 * cell)[:3] == palette()["sequential"][side][0][1:]
    lines = shim.line_pixels(page, x + 2 * cell, y - 2 * cell, palette()["masked"][side], count=20)
    assert set(np.diff(lines)) == {8}


def test_keys_that_were_not_chosen_have_closer_lines_and_a_name_as_on_the_large_map(mount):
    left = np.zeros((LAYERS, N, N), np.uint8)
    left[0, 5, 1] = 1
    keep = np.broadcast_to(np.tril(np.ones((N, N), np.uint8)), (LAYERS, N, N)) & ~left & 1
    page = mount(SOURCE, grid(left_out=left, keep=keep, texts=TEXTS | {"left_out_label": "<b>not chosen"}))
    x, y = point(page, 0, 0)
    cell = json.loads(facts(page)["geometry"])["pitch"] / N
    corner, key, query = (x - 4 * cell, y - 4 * cell), 1, 5
    masked = palette()["masked"]["light"]
    inside = [corner[0] + key * cell + 1, corner[0] + (key + 1) * cell - 2]
    rows = [corner[1] + query * cell + down for down in range(1, int(cell))]
    dark = [shim.color_at(page, x, y)[:3] for x in np.linspace(*inside, 8) for y in rows]
    assert any(sum(color) < sum(masked) - 150 for color in dark)  # a stronger line than those of what is masked
    assert any(sum(color) > 730 for color in dark)  # and paper between
    assert page.locator(".left-out").inner_text() == "<b>not chosen"
    x, y = point(page, 1, 0)  # a layer that chooses nothing
    assert shim.line_pixels(page, x + 2 * cell, y - 2 * cell, masked, count=20)


def test_without_a_choice_the_legend_names_none(mount):
    assert not mount(SOURCE, grid()).locator(".left-out").is_visible()


def test_a_thumbnail_smaller_than_its_picture_keeps_thin_lines(mount):
    big = np.zeros((32, 32, 64, 64), dtype=np.uint8)
    big[..., 33, :20] = 255  # one row of 64, where a cell has about 11 pixels
    page = mount(
        SOURCE,
        grid(32, 32, thumbnails=big, keep=np.ones((32, 64, 64), np.uint8)),
        style="section{max-width:430px}",
    )
    x, y = point(page, 0, 0)
    colors = [shim.color_at(page, x - 3, y + shift)[:3] for shift in (-2, -1, 0, 1, 2)]
    assert palette()["sequential"]["light"][-1][1:] in colors


def test_arrows_stop_at_the_edge_and_enter_asks_again(mount):
    page = mount(SOURCE, grid(selected=(0, 0)))
    page.locator("canvas").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    wait(page, 200)
    assert facts(page)["selected"] == "0,0"
    assert calls(page) == []
    page.keyboard.press("Enter")
    assert calls(page) == [["head", [0, 0]]]


def test_a_layer_without_weights_says_so_as_text_and_is_not_clickable(mount):
    page = mount(SOURCE, grid(layer_has_weights=[True, False, True, True], selected=(0, 0)))
    page.mouse.click(*point(page, 1, 3))
    assert calls(page) == []
    assert page.locator(".head-grid b").count() == 0


def test_hover_names_the_head_and_leaving_returns_to_the_selected_one(mount):
    page = mount(SOURCE, grid())
    page.mouse.move(*point(page, 0, 5))
    assert page.locator(".caption").text_content() == "L0H5 · previous token 5.0 %"
    page.mouse.move(1300, 800)
    assert page.locator(".caption").text_content() == "L1H2 · previous token 8.0 %"


def test_an_undefined_metric_is_named_so(mount):
    metric = np.full((LAYERS, HEADS), np.nan, dtype=np.float32)
    page = mount(SOURCE, grid(metric=metric, mode="metric"))
    assert page.locator(".caption").text_content() == "L1H2 · previous token not defined"
    assert shim.line_pixels(page, *point(page, 0, 0), palette()["masked"]["light"], count=16)


def test_metric_mode_fills_the_largest_darkest(mount):
    page = mount(SOURCE, grid(mode="metric", selected=(0, 0)))
    x, y = point(page, LAYERS - 1, HEADS - 1)
    assert shim.color_at(page, x - 20, y - 20)[:3] == palette()["sequential"]["light"][-1][1:]
    x, y = point(page, 0, 0)
    assert shim.color_at(page, x - 15, y + 15)[:3] == palette()["sequential"]["light"][0][1:]


def test_a_ranking_flows_in_its_order_and_may_leave_heads_out(mount):
    page = mount(SOURCE, grid(order=np.array([23, 0, 7])))
    page.mouse.click(*point(page, 0, 0))
    page.mouse.click(*point(page, 0, 2))
    page.mouse.click(*point(page, 0, 3))  # nothing there
    assert calls(page) == [["head", [3, 5]], ["head", [1, 1]]]
    page.locator("canvas").focus()
    page.keyboard.press("ArrowLeft")
    assert facts(page)["selected"] == "0,0"


def test_a_ranking_shows_every_head_where_names_fit_beside_each_other(mount):
    page = mount(SOURCE, grid(8, 8, order=np.arange(64)[::-1], max_height=430), style="section{width:283px}")
    geometry = json.loads(facts(page)["geometry"])
    assert page.locator(".scroller").evaluate("box => box.scrollHeight <= box.clientHeight")
    assert np.ceil(64 / geometry["columns"]) * geometry["rowHeight"] <= 430
    assert not page.locator(".more").is_visible()


@pytest.mark.parametrize("order", [np.arange(1024), None])
def test_heads_below_those_in_view_are_counted(mount, order):
    page = mount(SOURCE, grid(32, 32, order=order, selected=(0, 0), max_height=430))
    geometry = json.loads(facts(page)["geometry"])
    seen = int((430 - geometry["top"] + 1) // geometry["rowHeight"]) * geometry["columns"]
    assert page.locator(".more").text_content() == f"{1024 - seen} more below"
    page.locator(".scroller").evaluate("scroller => { scroller.scrollTop = 1e6 }")
    wait(page, 100)
    assert page.locator(".more").text_content() == "\u00a0"


def test_many_heads_fit_the_width_of_a_phone_and_scroll_inside(mount):
    page = mount(SOURCE, grid(48, 32, selected=(47, 31)), width=390, height=844)
    box = page.locator(".scroller").bounding_box()
    assert box["height"] <= 521
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    top = page.locator(".scroller").evaluate("scroller => scroller.scrollTop")
    geometry = json.loads(facts(page)["geometry"])
    assert geometry["top"] + 48 * geometry["pitch"] - top <= box["height"] + 1  # the selected head is in sight


def test_a_click_in_a_scrolled_ranking_finds_the_head_under_it(mount):
    order = np.arange(32 * 32, dtype=np.int32)[::-1]
    page = mount(SOURCE, grid(32, 32, order=order, selected=(31, 31)))
    page.locator(".scroller").evaluate("scroller => { scroller.scrollTop = 3000 }")
    wait(page, 50)
    geometry = json.loads(facts(page)["geometry"])
    box = page.locator("canvas").bounding_box()
    row = int((3000 + 200) // geometry["rowHeight"])
    y = row * geometry["rowHeight"] + geometry["rowHeight"] - geometry["pitch"] / 2 - 3000
    page.mouse.click(box["x"] + geometry["left"] + geometry["pitch"] * 1.5, box["y"] + y)
    flat = int(order[row * geometry["columns"] + 1])
    assert calls(page) == [["head", [flat // 32, flat % 32]]]


def test_the_canvas_is_named_and_speaks(mount):
    page = mount(SOURCE, grid())
    assert page.locator("canvas").get_attribute("aria-label") == "4 layers of 6 heads"
    page.mouse.move(*point(page, 0, 5))
    page.wait_for_function(
        "document.querySelector('section').shadowRoot.querySelector('[aria-live]').textContent.startsWith('L0H5')"
    )


def test_the_heads_that_share_keys_and_values_with_the_selected_one_are_marked_and_named(mount):
    texts = TEXTS | {"shared": "{heads} share k and v"}
    page = mount(SOURCE, grid(groups=2, texts=texts, selected=(1, 3), mode="metric"))
    assert page.locator(".caption").text_content() == "L1H3 · previous token 9.0 % · H2–H3 share k and v"
    geometry = json.loads(facts(page)["geometry"])
    box = page.locator("canvas").bounding_box()

    def line(head):
        x = box["x"] + geometry["left"] + (head + 0.5) * geometry["pitch"] + head // 2 * geometry["groupGap"]
        return shim.color_at(page, x, box["y"] + geometry["top"] - 3.5)[:3]

    assert [line(head) == [0x36, 0x33, 0x9A] for head in range(HEADS)] == [False, False, True, True, False, False]
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".caption").text_content() == "L1H4 · previous token 10 % · H4–H5 share k and v"


@pytest.mark.parametrize("groups", [1, HEADS])
def test_nothing_is_marked_where_every_head_has_its_own_or_all_share_one(mount, groups):
    page = mount(SOURCE, grid(groups=groups, texts=TEXTS | {"shared": "{heads} share k and v"}))
    assert page.locator(".caption").text_content() == "L1H2 · previous token 8.0 %"


def test_the_legend_says_what_the_frames_of_the_maps_are(mount):
    words = TEXTS | {"frame": "{metric}: faint {low}, strong {high}", "metric": "sink"}
    page = mount(SOURCE, grid(texts=words, metric_range=(0.0, 1.0), number="percent"))
    legend = page.locator(".legend")
    assert legend.inner_text() == "sink: faint 0 %, strong 100 %"
    colors = legend.locator("i").evaluate_all("marks => marks.map(mark => getComputedStyle(mark).borderTopColor)")
    primary = tuple(int(shim.LIGHT["--st-primary-color"][i : i + 2], 16) for i in (1, 3, 5))
    assert (len(set(colors)), colors[-1]) == (3, "rgb({}, {}, {})".format(*primary))
    answer(page, grid(texts=words, mode="metric"))
    assert not legend.is_visible()  # its numbers stand in its cells
