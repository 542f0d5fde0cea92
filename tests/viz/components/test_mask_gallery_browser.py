"""The mask gallery under mouse, keys and pencil, in a browser and without a server."""

from __future__ import annotations

import json

import pytest

from tests.viz.components import shim
from tests.viz.components.clock import settle
from tests.viz.components.mounted import calls, facts
from tests.viz.components.test_mask_gallery import N, gallery, regions
from viz.color import palette
from viz.components.mask_gallery.mask_gallery import SOURCE

pytestmark = pytest.mark.browser
WIDE = "section{max-width:900px}"


def large(page):
    return page.locator(".large > canvas")


def point(page, query, key):
    """The centre of a cell of the large picture, in pixels of the window."""
    at, box = json.loads(facts(page)["geometry"]), large(page).bounding_box()
    return box["x"] + at["x"] + (key + 0.5) * at["cell"], box["y"] + at["y"] + (query + 0.5) * at["cell"]


def color(page, query, key):
    x, y = point(page, query, key)
    return large(page).evaluate(
        """(canvas, [x, y]) => {
            const box = canvas.getBoundingClientRect()
            const ratio = canvas.width / box.width
            return [...canvas.getContext("2d").getImageData((x - box.left) * ratio, (y - box.top) * ratio, 1, 1).data]
        }""",
        [x, y],
    )[:3]


def words(page):
    settle(page)
    return page.locator(".readout").text_content().replace("\u2068", "").replace("\u2069", "")


def test_the_small_picture_of_the_open_pattern_is_pressed(mount):
    page = mount(SOURCE, gallery(), style=WIDE)
    page.locator(".patterns button").first.click()
    assert page.locator(".patterns button").first.get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("theme, side", [(shim.LIGHT, "light"), (shim.DARK, "dark")])
def test_hidden_cells_have_lines_until_the_layers_reach_them_and_the_future_none(mount, theme, side):
    page = mount(SOURCE, gallery(), theme=theme, style=WIDE)
    nth = page.locator("canvas").count() - 1

    def lines(query, key):
        return len(shim.line_pixels(page, *point(page, query, key), palette()["masked"][side], nth=nth, count=24))

    assert lines(4, 1) == 3
    assert lines(4, 3) == lines(1, 4) == 0
    page.locator("input[type=range]").fill("3")
    page.wait_for_function(
        "document.querySelector('[data-component]').shadowRoot.querySelector('.mask-gallery').dataset.shown === '3'"
    )
    assert lines(4, 1) == 0
    assert color(page, 4, 1) != color(page, 4, 3)
    assert lines(4, 0) == 3
    assert calls(page) == [["layers", 3]]
    assert "after 3 layers 4 can reach it" in words(page)
    assert "The first token reaches it after 4 layers." in words(page)


def test_a_click_on_a_row_looks_at_its_query(mount):
    page = mount(SOURCE, gallery(), style=WIDE)
    page.mouse.click(*point(page, 2, 1))
    assert calls(page) == [["query", 2]]
    assert words(page) == "<i>c</i> (2) sees b (1)."


def test_the_pencil_hides_a_stroke_and_shows_it_again(mount):
    page = mount(SOURCE, gallery(), style=WIDE)
    page.locator(".pencil").click()
    page.mouse.move(*point(page, 3, 3))
    page.mouse.down()
    page.mouse.move(*point(page, 3, 2), steps=4)
    page.mouse.up()
    assert calls(page) == [["hidden", [[3, 3], [3, 2]]]]
    assert facts(page)["hidden"] == "3,3;3,2"
    page.mouse.click(*point(page, 3, 2))
    assert calls(page)[-1] == ["hidden", [[3, 3]]]
    page.locator(".clear").click()
    assert calls(page)[-1] == ["hidden", []]
    focused = page.evaluate("document.activeElement.shadowRoot.activeElement.className")
    assert focused == "pencil"  # the button that had the focus is gone


def test_the_future_cannot_be_hidden_and_no_more_cells_than_fit(mount):
    page = mount(SOURCE, gallery(most_hidden=2), style=WIDE)
    page.locator(".pencil").click()
    page.mouse.click(*point(page, 1, 3))
    assert calls(page) == [["hidden", []]]
    for key in (0, 1, 2):
        page.mouse.click(*point(page, 4, key))
    assert facts(page)["hidden"] == "4,0;4,1"


def test_a_query_that_keeps_itself_is_not_drawn_as_hidden(mount):
    page = mount(SOURCE, gallery(hidden=[(2, 2)], given=[2]), style=WIDE)
    assert color(page, 2, 2) == color(page, 1, 1)
    page.mouse.move(*point(page, 2, 2))
    settle(page)
    assert words(page) == "<i>c</i> (2) would see nothing else, so it keeps itself."


def test_arrows_and_enter_do_what_the_mouse_does(mount):
    page = mount(SOURCE, gallery(), style=WIDE)
    large(page).focus()
    page.keyboard.press("ArrowUp")
    settle(page)
    assert words(page) == "d (3) does not see a (0), but can be reached by it after 3 layers."
    page.keyboard.press("Enter")
    assert calls(page) == [["query", 3]]
    page.locator(".pencil").click()
    large(page).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert calls(page)[-1][0] == "hidden"


def test_an_index_map_shows_distances_and_has_neither_pencil_nor_layers(mount):
    page = mount(SOURCE, gallery(regions=regions(), selected="index"), style=WIDE)
    assert not page.locator(".pencil").is_visible()
    assert not page.locator("input[type=range]").is_visible()
    page.mouse.move(*point(page, 4, 1))
    settle(page)
    assert (
        words(page)
        == "e (4) sees b (1) as if 3 positions back; they are 3 apart. farther back: from the capped query position"
    )
    assert color(page, 4, 0) != color(page, 4, 4)


def test_it_grows_by_itself_and_ends_with_the_last_layer(mount):
    page = mount(SOURCE, gallery(n_layers=2), style=WIDE)
    page.locator(".play").click()
    page.wait_for_function("window.calls.length === 1")
    assert calls(page) == [["layers", 2]]


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_wider_than_the_window(mount, width):
    page = mount(SOURCE, gallery(), width=width, style="")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert json.loads(facts(page)["geometry"])["cell"] * N > 150
