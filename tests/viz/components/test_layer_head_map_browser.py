"""The layer × head map under mouse and keys, in a browser and without a server."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.viz.components import shim
from tests.viz.components.clock import wait
from tests.viz.components.mounted import answer, calls, facts
from tests.viz.components.test_layer_head_map import HEADS, LAYERS, VALUES, cells
from viz.color import palette
from viz.components.layer_head_map.layer_head_map import SOURCE, TEXTS

pytestmark = pytest.mark.browser


def geometry(page):
    return json.loads(facts(page)["geometry"])


def point(page, row, column, right=0.5, down=0.5):
    """A point of the cell in this row and column, by default its centre, in pixels of the window."""
    at, box = geometry(page), page.locator("canvas").bounding_box()
    x = box["x"] + at["left"] + (column + right) * at["pitchX"] + gaps(at, "columnGroup", column)
    return x, box["y"] + at["top"] + (row + down) * at["pitchY"] + gaps(at, "rowGroup", row)


def gaps(at, axis, index):
    """The room between groups before this row or column, in pixels."""
    return index // at[axis] * at["groupGap"] if at[axis] else 0


def primary(theme):
    return [int(theme["--st-primary-color"][i : i + 2], 16) for i in (1, 3, 5)]


def line_color(page, row, column):
    """The colour of the line that joins a group: above the first row, or left of the first column."""
    at, box, (x, y) = geometry(page), page.locator("canvas").bounding_box(), point(page, row, column)
    place = (x, box["y"] + at["top"] - 3.25) if at["columnGroup"] else (box["x"] + at["left"] - 3.25, y)
    return shim.color_at(page, *place)[:3]


def corner_color(page, row, column):
    """The colour of a cell beside its number."""
    return shim.color_at(page, *point(page, row, column, 0.12, 0.15))[:3]


@pytest.mark.parametrize("theme, side", [(shim.LIGHT, "light"), (shim.DARK, "dark")])
def test_orange_is_below_zero_indigo_above_and_zero_is_the_middle_of_the_ramp(mount, theme, side):
    values = np.array([[-1.0, 0.0, 1.0, np.nan]])
    page = mount(SOURCE, cells(values, open=None), theme=theme)
    ramp = palette()["diverging"][side]
    assert corner_color(page, 0, 0) == ramp[0][1:]
    assert corner_color(page, 0, 1) == ramp[7][1:]
    assert corner_color(page, 0, 2) == ramp[-1][1:]
    assert shim.line_pixels(page, *point(page, 0, 3), palette()["masked"][side], count=16)


def test_a_sequential_map_runs_from_its_low_end_to_its_high_one(mount):
    page = mount(SOURCE, cells(np.array([[2.0, 4.0, 9.0]]), scale="sequential", low=2.0, high=4.0, open=None))
    ramp = palette()["sequential"]["light"]
    assert [corner_color(page, 0, column) for column in range(3)] == [ramp[0][1:], ramp[-1][1:], ramp[-1][1:]]
    assert page.locator(".bar").text_content() == "2.00≥ 4.00"


def test_keys_without_an_open_cell_begin_at_the_first_and_stop_at_the_edge(mount):
    page = mount(SOURCE, cells(open=None, notes={0: "nothing"}))
    page.locator("canvas").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")  # the first row has no cells
    assert facts(page)["open"] == ""
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("window.calls.length > 0")
    assert facts(page)["open"] == "1,0"


def test_a_row_with_a_note_cannot_be_clicked_and_its_note_is_text(mount):
    page = mount(SOURCE, cells(notes={1: "nothing <b>here</b>"}, open=(0, 0)))
    assert page.locator(".layer-head-map b").count() == 0
    page.mouse.click(*point(page, 1, 3))
    assert calls(page) == []
    assert facts(page)["open"] == "0,0"


def test_hover_gives_the_number_and_leaving_returns_to_the_open_cell(mount):
    page = mount(SOURCE, cells())
    page.mouse.move(*point(page, 0, 0))
    assert page.locator(".caption").text_content() == "L0H0 · −1.00"
    page.mouse.move(1300, 800)
    assert page.locator(".caption").text_content() == "L1H2 · −0.33"


def test_columns_are_numbered_from_where_the_page_says(mount):
    page = mount(SOURCE, cells(texts=TEXTS | {"cell": "{row_index} · {column_index}"}, first_column=7))
    assert page.locator(".caption").text_content() == "1 · 9"


def test_a_cell_without_a_number_is_named_so(mount):
    texts = TEXTS | {"cell": "{row}{column} · {value} nats"}
    page = mount(SOURCE, cells(np.full((2, 2), np.nan), open=(0, 1), texts=texts))
    assert page.locator(".caption").text_content() == "L0H1 · not defined here"
    answer(page, cells(open=(0, 1), texts=texts))
    assert page.locator(".caption").text_content() == "L0H1 · −0.92 nats"


def test_labels_given_for_the_columns_are_slanted_only_where_they_do_not_fit(mount):
    short, long = ["a", "b", "c", "d", "e", "f"], [f"·squirrels{i}and" for i in range(HEADS)]
    page = mount(SOURCE, cells(column_labels=short))
    assert geometry(page)["slanted"] is False
    answer(page, cells(column_labels=long, open=(1, 2)))
    assert geometry(page)["slanted"] is True
    page.mouse.move(*point(page, 0, 3))
    assert page.locator(".caption").text_content() == "L0·squirrels3and · −0.75"


def test_a_wide_map_scrolls_inside_a_phones_width_and_shows_the_open_cell(mount):
    values = np.random.default_rng(0).normal(size=(48, 64))
    page = mount(SOURCE, cells(values, open=(47, 63)), width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".scroller").bounding_box()
    assert box["height"] <= 361
    at = geometry(page)
    left, top = page.locator(".scroller").evaluate("one => [one.scrollLeft, one.scrollTop]")
    assert at["left"] + 64 * at["pitchX"] - left <= box["width"] + 1
    assert at["top"] + 48 * at["pitchY"] - top <= box["height"] + 1


def test_a_click_in_a_scrolled_map_finds_the_cell_under_it(mount):
    values = np.random.default_rng(0).normal(size=(48, 64))
    page = mount(SOURCE, cells(values, open=(0, 0)), width=390, height=844)
    page.locator(".scroller").evaluate("one => { one.scrollTop = 140; one.scrollLeft = 100 }")
    wait(page, 50)
    at, box = geometry(page), page.locator("canvas").bounding_box()
    page.mouse.click(box["x"] + at["left"] + 55, box["y"] + at["top"] + 61)
    expected = [int((140 + 61) // at["pitchY"]), int((100 + 55) // at["pitchX"])]
    assert calls(page) == [["head", expected]]


@pytest.mark.parametrize("theme", [shim.LIGHT, shim.DARK])
def test_columns_that_share_keys_and_values_stand_together_and_the_open_heads_line_stands_out(mount, theme):
    page = mount(SOURCE, cells(group=2), theme=theme)  # L1H2 is open
    at = geometry(page)
    assert (at["columnGroup"], at["rowGroup"]) == (2, 0)
    assert [line_color(page, 0, column) == primary(theme) for column in range(HEADS)] == [
        column in (2, 3) for column in range(HEADS)
    ]
    page.mouse.click(*point(page, 3, 5))
    assert calls(page) == [["head", [3, 5]]]
    assert line_color(page, 0, 5) == line_color(page, 0, 4) == primary(theme) != line_color(page, 0, 2)


@pytest.mark.parametrize("theme", [shim.LIGHT, shim.DARK])
def test_rows_that_share_keys_and_values_stand_together_too(mount, theme):
    page = mount(SOURCE, cells(group=2, group_axis="rows"), theme=theme)
    at = geometry(page)
    assert (at["columnGroup"], at["rowGroup"]) == (0, 2)
    assert [line_color(page, row, 0) == primary(theme) for row in range(LAYERS)] == [True, True, False, False]
    page.mouse.click(*point(page, 3, 5, 0.9, 0.9))
    assert calls(page) == [["head", [3, 5]]]
    assert [line_color(page, row, 0) == primary(theme) for row in range(LAYERS)] == [False, False, True, True]


@pytest.mark.parametrize("group", [1, HEADS])
def test_heads_that_all_share_or_each_have_their_own_stand_in_one_row(mount, group):
    page = mount(SOURCE, cells(group=group))
    at = geometry(page)
    assert (at["columnGroup"], at["rowGroup"]) == (0, 0)
    assert page.locator(".caption").text_content() == "L1H2 · −0.33"


def test_the_gap_between_groups_is_no_cell(mount):
    page = mount(SOURCE, cells(group=3))
    at, (x, y) = geometry(page), point(page, 0, 3, 0, 0.5)
    page.mouse.click(x - at["groupGap"] / 2, y)
    assert calls(page) == []
    page.mouse.click(x + 1, y)
    page.mouse.click(x - at["groupGap"] - 1, y)
    assert [value for _event, value in calls(page)] == [[0, 3], [0, 2]]


def test_a_head_of_the_open_group_is_said_to_share_where_there_is_room(mount):
    page = mount(SOURCE, cells(group=2))
    assert page.locator(".caption").text_content() == "L1H2 · −0.33 · H2–H3 share k and v"
    page.mouse.move(*point(page, 1, 3))
    assert page.locator(".caption").text_content() == "L1H3 · −0.25 · H2–H3 share k and v"
    page.mouse.move(*point(page, 1, 4))
    assert page.locator(".caption").text_content() == "L1H4 · −0.17"
    page.mouse.move(*point(page, 2, 3))
    assert page.locator(".caption").text_content() == "L2H3 · 0.25"
    page.locator(".caption").evaluate("caption => { caption.style.maxWidth = '120px' }")
    page.mouse.move(*point(page, 1, 3))
    assert page.locator(".caption").text_content() == "L1H3 · −0.25"


def test_a_wide_map_of_groups_scrolls_and_a_click_finds_the_cell_under_it(mount):
    values = np.random.default_rng(0).normal(size=(48, 64))
    page = mount(SOURCE, cells(values, open=(47, 63), group=4), width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    left, top = page.locator(".scroller").evaluate("one => [one.scrollLeft, one.scrollTop]")
    x, y = point(page, 40, 50)
    page.mouse.click(x - left, y - top)
    assert calls(page) == [["head", [40, 50]]]


def test_an_open_cell_that_a_smaller_map_does_not_have_is_none(mount):
    page = mount(SOURCE, cells(open=(LAYERS - 1, HEADS - 1)))
    answer(page, cells(VALUES[:2, :2], open=(LAYERS - 1, HEADS - 1)))
    assert facts(page)["open"] == ""


def test_the_canvas_is_named_and_speaks(mount):
    page = mount(SOURCE, cells())
    label = "effects: layers down, heads across. Arrow keys move, Enter opens a cell."
    assert page.locator("canvas").get_attribute("aria-label") == label
    page.mouse.move(*point(page, 0, 5))
    page.wait_for_function(
        "document.querySelector('section').shadowRoot.querySelector('[aria-live]').textContent.startsWith('L0H5')"
    )
