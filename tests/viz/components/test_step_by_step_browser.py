"""Step by step under mouse, keys and time, in a browser and without a server."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from attention.small_attention import usual_numbers
from tests.viz.components import shim
from tests.viz.components.clock import hold, settle
from tests.viz.components.test_step_by_step import plain, steps
from tests.viz.test_chart_svg import lines
from viz.components.chart import chart
from viz.components.step_by_step.chain import Live, rows_of
from viz.components.step_by_step.step_by_step import SOURCE
from viz.tree_html import adaptive_tree_svg

pytestmark = pytest.mark.browser
WIDE = "section{max-width:1100px}"


def facts(page):
    settle(page)
    return page.locator(".step-by-step").evaluate("root => ({...root.dataset})")


def told(page):
    return [[event, value] for _name, event, value in page.evaluate("window.calls")]


def come(page, data):
    """Other numbers from the host, as after Back."""
    page.evaluate("data => window.send('step_by_step', data)", shim.encoded(data))


def cell(page, row, column):
    return page.locator(f".result td[data-row='{row}'][data-column='{column}']")


def test_pointing_lights_the_row_and_the_column_and_spells_the_sum(mount):
    page = mount(SOURCE, steps(), style=WIDE)
    cell(page, 2, 1).hover()
    settle(page)
    assert page.locator("[data-matrix=Q] td.lit").evaluate_all("all => all.map(one => one.dataset.row)") == ["2"] * 4
    assert page.locator("[data-matrix=K] td.lit").evaluate_all("all => all.map(one => one.dataset.column)") == ["1"] * 4
    expect(page.locator(".sum")).to_contain_text("q₂ · k₁ = ")
    page.mouse.move(5, 5)
    expect(page.locator(".sum")).to_contain_text("q₃ · k")  # at rest: the largest number of the last row


@pytest.mark.parametrize("step", ["scores", "softmax"])
def test_at_first_the_largest_number_of_the_last_row_shows_how_it_is_made(mount, step):
    page = mount(SOURCE, steps(step=step), style=WIDE)
    made = page.locator(".result tbody tr").last.locator("td")
    sizes = made.evaluate_all("all => all.map(one => Math.abs(parseFloat(one.textContent.replace('−', '-'))))")
    at_rest = page.locator(".sum").inner_text()
    assert facts(page)["at"] == ""
    cell(page, len(sizes) - 1, sizes.index(max(sizes))).hover()
    settle(page)
    assert facts(page)["at"] != ""
    assert page.locator(".sum").inner_text() == at_rest


def test_where_numbers_are_covered_none_shows_how_it_is_made(mount):
    page = mount(SOURCE, steps(ask=True), style=WIDE)
    expect(page.locator(".sum")).to_have_class("sum empty")


def test_a_typed_number_is_in_every_later_matrix_and_what_is_none_is_said(mount):
    page = mount(SOURCE, steps(step="q"), style=WIDE)
    before = cell(page, 0, 0).text_content()
    typed = page.locator("[data-matrix=X] input").first
    typed.fill("1e308")
    expect(page.get_by_role("alert")).to_contain_text("“1e308” is not possible here")
    assert cell(page, 0, 0).text_content() == before
    typed.fill("2.5")
    expect(page.locator(".problem")).to_have_text("")
    assert cell(page, 0, 0).text_content() != before
    assert facts(page)["edits"] == "X00_2.5"
    expect(page.locator(".slide input")).to_have_value("2.5")
    page.wait_for_function("window.calls.length")
    assert told(page) == [["numbers", "X00_2.5"]]
    for wide in ("２．５", "−１．７５"):  # as a Chinese keyboard types them
        typed.fill(wide)
        expect(page.locator(".problem")).to_have_text("")
    assert facts(page)["edits"] == "X00_-1.75"
    typed.fill("100")
    expect(page.locator(".slide input")).to_have_value("100")
    typed.fill("2.5")
    typed.press("ArrowUp")
    assert facts(page)["edits"] == "X00_3"
    page.locator(".slide input").fill("-1.5")
    assert facts(page)["edits"] == "X00_-1.5"
    expect(typed).to_have_value("−1.5")
    page.get_by_role("button", name="the first numbers again").click()
    assert facts(page)["edits"] == ""
    assert cell(page, 0, 0).text_content() == before


def test_a_number_that_cannot_stand_and_escape_leave_the_one_before(mount):
    page = mount(SOURCE, steps(step="q"), style=WIDE)
    typed = page.locator("[data-matrix=X] input").first
    typed.fill("7")
    typed.press("Enter")
    for keys in ("12345", "42"):
        typed.focus()
        typed.press("Control+a")
        typed.press_sequentially(keys)
        if keys == "42":
            typed.press("Escape")
        assert facts(page)["edits"] == "X00_7"
        typed.blur()
        expect(typed).to_have_value("7")
        expect(page.locator(".problem")).to_have_text("")


def test_the_slider_is_where_its_number_is_whatever_changed_it(mount):
    page = mount(SOURCE, steps(step="q"), style=WIDE)
    typed, slide = page.locator("[data-matrix=X] input").first, page.locator(".slide input")
    typed.focus()
    before = slide.input_value()
    typed.fill("2.5")
    typed.press("Escape")
    expect(slide).to_have_value(before)
    typed.fill("2.5")
    typed.fill("2.5x")
    expect(slide).to_have_value(before)
    typed.fill("100")
    slide.fill("40")
    expect(slide).to_have_js_property("max", "100")
    page.get_by_role("button", name="the first numbers again").click()
    expect(slide).to_have_value(before)
    expect(slide).to_have_js_property("max", "3")


def test_numbers_that_come_from_elsewhere_stand_in_the_cell_that_has_the_focus_too(mount):
    page = mount(SOURCE, steps(step="q", edits="X00_2"), style=WIDE)
    typed, slide = page.locator("[data-matrix=X] input").first, page.locator(".slide input")
    typed.focus()
    typed.fill("what")
    come(page, steps(step="q", edits="X00_100"))
    expect(typed).to_have_value("100")
    expect(typed).to_have_attribute("aria-invalid", "false")
    expect(slide).to_have_value("100")
    typed.fill("nothing")
    typed.blur()
    expect(typed).to_have_value("100")


def test_another_size_of_the_numbers_takes_the_slider_away(mount):
    page = mount(SOURCE, steps(step="q"), style=WIDE)
    page.locator("[data-matrix=X] input").first.focus()
    expect(page.locator(".slide")).to_be_visible()
    come(page, steps(step="q", usual=plain(usual_numbers(3, 4))))
    expect(page.locator(".slide")).to_be_hidden()


def test_play_goes_through_every_number_and_every_step_and_stops(mount):
    page = mount(SOURCE, steps(step="mix"), style=WIDE)
    hold(page)
    page.get_by_role("button", name="play").click()
    seen = set()
    for _ in range(80):
        page.clock.run_for(320)
        now = page.locator(".step-by-step").evaluate("root => ({...root.dataset})")
        if seen and now["step"] not in {step for step, _at in seen}:  # the host answers, as a run of the page does
            page.evaluate("data => window.send('step_by_step', data)", shim.encoded(steps(step=now["step"])))
        seen.add((now["step"], now["at"]))
    assert {step for step, _at in seen} == {"mix", "concat", "out"}
    assert len({at for step, at in seen if step == "concat" and at}) == 16
    expect(page.get_by_role("button", name="play")).to_be_visible()
    assert ["step", "out"] in told(page)


def test_back_and_next_walk_the_steps_in_the_dark_and_on_a_phone(mount):
    page = mount(SOURCE, steps(), width=390, height=844, theme=shim.DARK)
    page.get_by_role("button", name="next step").click()
    assert facts(page)["step"] == "scale"
    page.get_by_role("button", name="previous step").click()
    page.get_by_role("button", name="previous step").click()
    assert facts(page)["step"] == "v"
    page.locator(".line button").last.click()
    assert facts(page)["step"] == "out"
    expect(page.get_by_role("button", name="next step")).to_be_disabled()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def scaled_row(value: int = 2) -> bytes:
    """A row of two products of three values of d, with their sliders."""
    products = [[1.0, -1.0], [2.0, -2.0], [8.0, 0.0]]
    live = Live("scale", "P", rows_of(np.array(products)), notes={"scale": "d {d}, factor {factor}"})
    wide = {"name": "wide", "label": "d", "value": value, "least": 1, "most": 4, "step": 1, "values": [1, 2, 4]}
    temperature = {
        "name": "temperature",
        "label": "T",
        "value": 1,
        "least": 0.25,
        "most": 4,
        "step": 0.25,
        "values": None,
    }
    tables = [("P", products[1], ""), ("C", [0.0, 0.0], ""), ("A", [0.5, 0.5], "share")]
    matrices: dict[str, Any] = {
        name: {
            "name": name, "values": [row], "shape": [1, 2], "side": "", "rows": ["q"], "columns": ["k0", "k1"],
            "unit": unit, "vector": "", "usual": [row] if name == "P" else None,
        }
        for name, row, unit in tables
    }  # fmt: skip  # a matrix in two lines
    chain: list[dict[str, Any]] = [
        {"id": "products", "kind": "model", "result": "P"},
        {"id": "scale", "kind": "scale", "left": "P", "result": "C", "factor": 1.0, "root": 2, "note": "of the host"},
        {"id": "softmax", "kind": "softmax", "left": "C", "result": "A"},
    ]
    return steps(
        usual=None,
        step="scale",
        chain={"matrices": matrices, "steps": chain, "knobs": [wide, temperature], "live": live},
    )


def test_a_slider_is_followed_in_the_browser_and_told_when_it_rests(mount):
    page = mount(SOURCE, scaled_row(), style=WIDE)
    wide, temperature = page.locator(".knob input").all()
    assert (wide.input_value(), temperature.input_value()) == ("1", "1")
    hold(page)
    wide.fill("2")
    temperature.fill("2")
    page.clock.run_for(100)
    shown = page.locator("[data-matrix=C] td[data-row]")
    assert shown.all_text_contents() == ["2", "0"]  # 8 and 0, ÷ √4, ÷ 2
    assert page.locator(".knob output").all_text_contents() == ["4", "2"]
    expect(page.locator(".title")).to_contain_text("d 4, factor 0.25")
    assert told(page) == []
    page.clock.run_for(300)
    assert told(page) == [["knobs", {"wide": 4, "temperature": 2}]]
    page.evaluate("data => window.send('step_by_step', data)", shim.encoded(scaled_row()))  # to an earlier choice
    page.clock.run_for(100)
    assert shown.all_text_contents() == ["2", "0"]
    page.locator(".line button").first.click()
    page.locator("[data-matrix=P] input").first.fill("3")
    page.locator(".line button").nth(1).click()
    assert shown.all_text_contents() == ["0.75", "0"]
    assert (wide.input_value(), page.locator(".knob output").first.text_content()) == ("2", "4")


def test_a_chart_is_followed_in_the_browser_and_told_when_it_rests(mount):
    charts = [lines(x_title=name) for name in ("keys", "rows", "cells")]
    slider = chart.Slider(label="gap", values=(1.0, 2.5, 4.0), at=2.5, charts=charts, said=("one", "two", "three"))
    page = mount(chart.SOURCE, chart.ChartPicture(charts[1], label="a chart", knob=slider).packed(), style=WIDE)
    hold(page)
    expect(page.locator(".said")).to_have_text("two")
    page.get_by_role("slider", name="gap").fill("2")
    page.clock.run_for(100)
    expect(page.locator(".said")).to_have_text("three")
    expect(page.locator(".knob output")).to_have_text("4")
    expect(page.get_by_role("img", name="a chart")).to_be_visible()
    assert told(page) == []
    page.clock.run_for(300)
    assert told(page) == [["knob", 4]]


def test_a_charts_slider_shows_the_name_and_the_picture_of_its_place(mount):
    charts = [lines(x_title=name) for name in ("keys", "rows")]
    pictures = [adaptive_tree_svg([[word]], 0) for word in ("four", "eight")]
    slider = chart.Slider(
        label="cutoff", values=(4, 8000), at=4, charts=charts, said=("few", "many"), names=("4", "8,000"),
        pictures=pictures,
    )  # fmt: skip  # its two halves in a line each
    page = mount(chart.SOURCE, chart.ChartPicture(charts[0], label="a chart", knob=slider).packed(), style=WIDE)
    plot = page.get_by_role("img", name="a chart")
    before = plot.bounding_box()
    expect(page.get_by_role("img", name="few")).to_have_text("four")
    page.get_by_role("slider", name="cutoff").press("ArrowRight")
    expect(page.get_by_role("img", name="many")).to_have_text("eight")
    expect(page.locator(".knob output")).to_have_text("8,000")
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "8,000")
    after = plot.bounding_box()
    assert after == before
    assert after is not None
    assert after["height"] == charts[0].height


def test_the_step_that_it_opens_with_is_in_the_middle_of_the_line_on_a_phone(mount):
    page = mount(SOURCE, steps(step="scores"), width=390, height=844)
    settle(page)
    line = page.locator(".step-by-step .line").bounding_box()
    step = page.locator(".step-by-step .line button[data-step='scores']").bounding_box()
    assert abs(step["x"] + step["width"] / 2 - line["x"] - line["width"] / 2) < 2


def test_a_number_typed_into_a_heads_columns_is_that_heads_and_not_the_first_ones(mount):
    settings = {"heads": 2, "head": 1, "kv_heads": 1, "causal": True, "scaled": True}
    page = mount(SOURCE, steps(step="q", settings=settings), style=WIDE)
    page.locator("[data-matrix=WQ] input").first.fill("2.5")
    assert facts(page)["edits"] == "Q02_2.5"
    expect(page.locator("[data-matrix=WQ] input").first).to_have_value("2.5")
