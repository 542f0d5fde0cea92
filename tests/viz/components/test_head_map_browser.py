"""The head map's picture, its hover and its pins, in a browser and without a server."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.viz.components import shim
from tests.viz.components.clock import settle
from tests.viz.components.map_page import cell, place
from tests.viz.components.mounted import answer, calls, facts
from tests.viz.components.test_head_map import TEXTS, causal, head_map
from viz.color import diverging, palette, sequential
from viz.components.head_map.head_map import SOURCE

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("theme, dark", [(shim.LIGHT, False), (shim.DARK, True)])
def test_cells_have_the_colours_of_the_exports(mount, theme, dark):
    page = mount(SOURCE, head_map(), theme=theme)
    expected = sequential(causal(9), dark=dark)
    for query, key in [(0, 0), (8, 0), (4, 1), (8, 8)]:
        got = shim.color_at(page, *place(page, query + 0.15, key + 0.15))  # beside the number
        assert np.abs(np.array(got) - expected[query, key]).max() <= 2, (query, key)  # the browser has 256 steps


@pytest.mark.parametrize("theme, side", [(shim.LIGHT, "light"), (shim.DARK, "dark")])
def test_masked_is_lines_across_paper_and_a_key_that_was_not_chosen_other_ones(mount, theme, side):
    left_out = np.zeros((9, 9), np.bool_)
    left_out[8, 1] = True
    values = causal(9)
    values[8, 1] = np.nan
    page = mount(SOURCE, head_map(values=values, left_out=left_out), theme=theme)
    masked = shim.line_pixels(page, *cell(page, 0, 6), palette()["masked"][side])
    assert set(np.diff(masked)) == {8}
    ground, ink = (np.array([*bytes.fromhex(theme[f"--st-{name}-color"][1:])]) for name in ("background", "text"))
    line = [int(part) for part in np.floor(ground + (ink - ground) * 0.5 + 0.5)]
    chosen = shim.line_pixels(page, *cell(page, 8, 1), line, count=24)
    assert set(np.diff(chosen)) == {5}


def test_signed_values_have_the_diverging_colours(mount):
    values = np.linspace(-2, 2, 81, dtype=np.float32).reshape(9, 9)
    page = mount(SOURCE, head_map(values=values, scale="diverging", low=-2, high=2, number="plain"))
    expected = diverging(values / 2)
    for query, key in [(0, 0), (4, 4), (8, 8), (2, 3)]:
        assert np.abs(np.array(shim.color_at(page, *cell(page, query, key))) - expected[query, key]).max() <= 3


def test_a_logarithmic_scale_gives_each_decade_an_equal_share(mount):
    values = np.full((9, 9), 1e-3, dtype=np.float32)
    values[0, 0] = 1e-9
    page = mount(SOURCE, head_map(values=values, log=True, low=1e-4, high=1.0))
    middle = sequential(np.float64(0.25))  # 1e-3 is one decade of four
    assert np.abs(np.array(shim.color_at(page, *cell(page, 5, 5))) - middle).max() <= 2
    assert shim.color_at(page, *cell(page, 0, 0))[:3] == palette()["sequential"]["light"][0][1:]


def test_a_click_pins_the_cell_at_once_and_reports_units_of_the_whole_text(mount):
    page = mount(SOURCE, head_map(n=40, window=(10, 30, 5, 25)))
    page.mouse.click(*cell(page, 25, 7))
    assert facts(page)["selected"] == "25,7"
    assert calls(page, "cell") == [[25, 7]]
    x, y = place(page, 25.5, 5)
    assert shim.color_at(page, x - 1, y)[:3] == palette()["query"]["light"]  # the row's frame
    x, y = place(page, 10, 7.5)
    assert shim.color_at(page, x, y - 1)[:3] == palette()["key"]["light"]  # the column's frame


def test_a_click_on_a_pooled_pixel_reports_its_centre(mount):
    page = mount(SOURCE, head_map(n=64, pool=(4, 4)))
    page.mouse.click(*place(page, 40.3, 21.8))
    assert calls(page, "cell") == [[42, 22]]


def test_a_click_on_a_query_label_pins_the_row_alone(mount):
    page = mount(SOURCE, head_map())
    x, y = cell(page, 6, 0)
    plot = json.loads(facts(page)["geometry"])
    page.mouse.click(x - plot["width"] / 18 - 15, y)
    assert calls(page, "cell") == [[6, None]]
    assert facts(page)["selected"] == "6,"


def test_escape_clears_the_pin(mount):
    page = mount(SOURCE, head_map(selected=(4, 2)))
    page.locator("canvas").press("Escape")
    assert calls(page, "cell") == [None]
    assert facts(page)["selected"] == ""


def test_a_press_is_told_apart_from_a_look_around(mount):
    page = mount(SOURCE, head_map(selected=(4, 2), press=True))
    page.locator("canvas").press("ArrowRight")
    page.wait_for_function("window.calls.length > 0")
    page.locator("canvas").press("Enter")
    page.mouse.click(*cell(page, 6, 1))
    page.locator("canvas").press("Escape")
    assert calls(page, "cell") == [[4, 3]]
    assert calls(page, "press") == [[4, 3], [6, 1], None]


def test_the_first_arrow_pins_the_last_query_and_the_key_it_looks_at_most(mount):
    values = causal(9)
    values[8, 5] = 0.9
    page = mount(SOURCE, head_map(values=values))
    page.locator("canvas").press("ArrowUp")
    assert facts(page)["selected"] == "8,5"


def test_hover_tells_the_exact_number_and_both_tokens(mount):
    page = mount(SOURCE, head_map())
    page.evaluate("addEventListener('atlas-row', ({ detail }) => { window.row = detail })")
    page.mouse.move(*cell(page, 7, 3))
    assert page.evaluate("row") == {"row": 7, "of": 9, "query": [7, "t7"], "key": [3, "t3"]}
    assert page.locator(".tip").text_content() == "\u2068t7\u2069 (7) puts 2.0 % on \u2068t3\u2069 (3)"
    page.wait_for_function(
        "document.querySelector('section').shadowRoot.querySelector('[aria-live]').textContent.includes('t7')"
    )
    page.mouse.move(*cell(page, 3, 7))
    assert page.locator(".tip").text_content() == "\u2068t3\u2069 cannot see \u2068t7\u2069"
    page.mouse.move(1300, 850)
    assert page.evaluate("row") == {"row": None, "of": 9, "query": None, "key": None}
    assert page.locator(".tip").is_hidden()


def test_hover_over_a_pooled_pixel_says_of_how_many_cells(mount):
    page = mount(SOURCE, head_map(n=62, pool=(4, 4)))
    page.mouse.move(*place(page, 30, 1))
    assert page.locator(".tip").text_content() == "largest of 16 cells: 32 %"
    page.mouse.move(*place(page, 61, 61))  # 62 = 15 · 4 + 2: two by two are left
    assert page.locator(".tip").text_content() == "largest of 4 cells: 1.0 %"


def test_a_token_that_looks_like_html_is_shown_as_text(mount):
    evil = "<img src=x onerror='window.hacked=1'>"
    page = mount(SOURCE, head_map(row_labels=[evil] * 9, texts=TEXTS | {"summary": evil}))
    page.mouse.move(*cell(page, 7, 3))
    assert evil in page.locator(".tip").text_content()
    assert page.locator(".head-map img").count() == 0
    assert page.evaluate("window.hacked") is None


def test_on_a_phone_nothing_is_wider_than_the_screen(mount):
    page = mount(SOURCE, head_map(n=30), width=390, height=844, style="")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    plot = json.loads(facts(page)["geometry"])
    assert plot["width"] > 250
    page.mouse.click(*cell(page, 20, 4))
    assert calls(page, "cell") == [[20, 4]]


ENDS = """() => {
  window.ends = []
  const fill = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const width = this.measureText(text).width
    if (text.includes("%")) window.ends.push(this.textAlign === "right" ? [x - width, x] : [x, x + width])
    return fill.call(this, text, x, y)
  }
}"""


def test_on_a_narrow_screen_the_numbers_at_the_ends_of_the_colours_stand_apart(mount):
    almost = 0.99985
    values = np.linspace(-almost, almost, 81, dtype=np.float32).reshape(9, 9)
    changes = {"values": values, "scale": "diverging", "low": -almost, "high": almost}
    page = mount(SOURCE, head_map(**changes), width=330, height=700)
    page.evaluate(ENDS)
    page.locator(".head-map").evaluate("root => root.atlas.again()")
    page.wait_for_function("window.ends.length > 1")
    low, high = page.evaluate("window.ends.slice(-2)")
    assert low[1] + 4 <= high[0]


def test_cells_are_square_and_the_figure_keeps_its_height(mount):
    for n in (3, 9, 40):
        page = mount(SOURCE, head_map(n=n))
        plot = json.loads(facts(page)["geometry"])
        assert plot["width"] == pytest.approx(plot["height"])
        assert page.locator("canvas").bounding_box()["height"] <= 560


def test_one_query_over_many_keys_is_a_strip(mount):
    values = np.full((1, 40), 0.025, dtype=np.float32)
    page = mount(SOURCE, head_map(n=40, values=values, window=(0, 1, 0, 40), total=(1, 40), row_labels=["now"]))
    plot = json.loads(facts(page)["geometry"])
    assert plot["width"] / 40 < plot["height"] <= 8 * plot["width"] / 40


def test_a_short_text_over_a_long_one_keeps_rows_that_can_be_read(mount):
    values, rows = np.full((14, 220), 0.005, dtype=np.float32), [f"row {i}" for i in range(14)]
    columns = [f"{i}" for i in range(220)]
    page = mount(
        SOURCE,
        head_map(n=220, values=values, window=(0, 14, 0, 220), total=(14, 220), row_labels=rows, col_labels=columns),
    )
    plot = json.loads(facts(page)["geometry"])
    assert plot["height"] / 14 >= 10


@pytest.mark.parametrize("shape", [(21, 9), (9, 21)])
def test_one_text_over_another_fills_the_room_and_every_row_has_its_label(mount, shape):
    rows, columns = ([f"t{i}" for i in range(count)] for count in shape)
    whole = {"window": (0, shape[0], 0, shape[1]), "total": shape, "row_labels": rows, "col_labels": columns}
    page = mount(SOURCE, head_map(values=np.full(shape, 0.1, np.float32), max_height=300, **whole), width=560)
    plot = json.loads(facts(page)["geometry"])
    assert plot["height"] / shape[0] >= 12
    assert plot["width"] > 340


def test_the_canvas_carries_the_summary(mount):
    page = mount(SOURCE, head_map())
    assert page.locator("canvas").get_attribute("aria-label") == "map of L3H1"


def test_no_line_of_a_chinese_note_begins_with_a_closing_mark(mount):
    note = "".join("一" * n + mark for n in range(1, 60) for mark in "。，）")
    page = mount(SOURCE, head_map(texts=TEXTS | {"note": note}))
    lines = page.locator(".head-map").evaluate("(root) => root.atlas.layout.notes")
    assert len(lines) > 20
    assert "".join(lines) == note
    assert [line for line in lines if line[0] in "。，）"] == []


def of_head(layer, head):
    return head_map(of=(layer, head), texts={**TEXTS, "summary": f"L{layer}H{head}"})


def test_a_head_that_is_given_before_the_page_stays_until_the_page_has_it_too(mount):
    page = mount(SOURCE, of_head(3, 7))
    said = page.locator("canvas").first

    def give(layer, head, data):
        detail = {"figure": "head-map", "of": [layer, head], "bytes": None if data is None else shim.encoded(data)}
        page.evaluate(
            """detail => {
                if (detail.bytes) detail.bytes = Uint8Array.from(atob(detail.bytes), (one) => one.charCodeAt(0))
                dispatchEvent(new CustomEvent("atlas-given", { detail }))
            }""",
            detail,
        )

    def shown():
        settle(page)
        return said.get_attribute("aria-label")

    give(2, 5, of_head(2, 5))
    assert shown() == "L2H5"
    for answer_of, kept in (((1, 1), "L2H5"), ((2, 5), "L2H5"), ((4, 4), "L4H4")):
        answer(page, of_head(*answer_of))  # to an earlier choice; to this one; and then the host is believed again
        assert shown() == kept
    give(2, 5, of_head(2, 5))
    give(1, 3, None)  # there is nothing of the head that was chosen after it: the page's own answer is drawn
    answer(page, of_head(1, 3))
    assert shown() == "L1H3"


def test_a_share_of_ten_percent_is_written_in_its_cell_and_a_smaller_one_is_not(mount):
    values = np.full((9, 9), np.nan, dtype=np.float32)
    values[3, :4] = 0.5, 0.099, 0.2, 0.201
    page = mount(SOURCE, head_map(values=values))
    paper = sequential(np.array(values[3, :4]))[:, :3].astype(int)

    def has_ink(key):
        places = [place(page, 3.5, key + part) for part in np.linspace(0.3, 0.7, 12)]
        colors = np.array([shim.color_at(page, *one)[:3] for one in places])
        return bool((np.abs(colors - paper[key]).max(axis=1) > 60).any())

    assert [has_ink(key) for key in range(4)] == [True, False, True, True]
