"""The steps of a cell in a browser: what a reader sees adds up to the digits shown, and answers mouse and keys."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.viz.components import shim
from tests.viz.components.clock import hold, settle
from tests.viz.components.mounted import calls, facts
from tests.viz.components.test_cell_steps import D_VALUE, QUERY, D, cell
from viz.components.cell_steps.cell_steps import SOURCE, CellStepsPicture
from viz.export import standalone_html

pytestmark = pytest.mark.browser

MINUS, THIN = "−", "\u00a0"


@pytest.fixture
def show(mount):
    def show_cell(width=1200, theme=shim.LIGHT, **changes):
        style = "body{margin:0}" if width < 600 else "section{max-width:1100px}"
        return mount(SOURCE, CellStepsPicture(**cell(**changes)).packed(), width=width, theme=theme, style=style)

    return show_cell


def result(page, step):
    settle(page)
    return page.locator(f".title[data-step='{step}'] .result").inner_text().replace(THIN, " ")


def open_step(page, step):
    page.click(f".title[data-step='{step}']")
    return page.locator(".panel").inner_text().replace(THIN, " ").splitlines()


def bar(page, key):
    return page.locator(f".bar[data-key='{key}']")


def numbers(text):
    """Signed decimal numbers of a text, brackets and true minus signs read as a reader does."""
    return [float(found) for found in re.findall(r"-?\d+\.?\d*", text.replace(f" {MINUS} ", " -").replace(MINUS, "-"))]


def exponents(text):
    """Score, lse and their difference, from "= exp(1.2000 − (−2.3000)) = exp(3.5000)"."""
    number = rf"\(?({MINUS}?\d+\.\d+)\)?"
    found = re.search(rf"= exp\({number} {MINUS} {number}\) = exp\({number}\)", text)
    assert found is not None, text
    return [numbers(part)[0] for part in found.groups()]


def test_each_steps_number_follows_from_the_one_before(show):
    page, given = show(), cell()
    (dot,) = numbers(result(page, 2))
    assert dot == pytest.approx(given["keys"].dots[2], abs=1e-4)
    shown_dot, d, scaled = numbers(result(page, 3))
    assert (shown_dot, d) == (dot, D)
    assert scaled == pytest.approx(dot / math.sqrt(D), abs=0.5001e-4)
    assert result(page, 4) == "visible"
    exponent, weight = numbers(result(page, 5))
    assert math.exp(exponent) * 100 == pytest.approx(weight, abs=0.06)
    assert weight == pytest.approx(given["keys"].weights[2] * 100, abs=0.05001)
    assert float(facts(page)["weight"]) == pytest.approx(given["keys"].weights[2], abs=1e-6)
    assert float(facts(page)["score"]) == pytest.approx(given["keys"].scores[2], abs=1e-6)


@pytest.mark.parametrize("key", [0, 2, 4])
def test_the_formulas_add_up_to_the_digits_shown(show, key):
    page = show(key=key)
    products = open_step(page, 2)
    *terms, _ = numbers(re.sub(r"\(\d+ more\)", "", products[3]) + " 0")
    (total,) = numbers(products[4])
    assert round(sum(terms), 3) == total
    factors = re.findall(r"\(?(−?[\d.]+)\)?·\(?(−?[\d.]+)\)?", products[2])
    for (q, k), term in zip(factors, terms, strict=False):
        assert numbers(q)[0] * numbers(k)[0] == pytest.approx(term, abs=0.5001e-3)
    softmax = " ".join(open_step(page, 5))
    score, lse, exponent = exponents(softmax)
    assert round(score - lse, 4) == exponent
    line = next(line for line in open_step(page, 6) if line.startswith("dimension 0"))
    left, right = line.removeprefix("dimension 0:").split("=")
    assert round(sum(numbers(left)), 6) == numbers(right)[0]


def pointed_at(page, part, strip, dimension, d):
    """What the part says while the pointer is on this dimension of a strip."""
    box = page.locator(f"{part} {strip}").bounding_box()
    page.mouse.move(box["x"] + box["width"] * (dimension + 0.5) / d, box["y"] + 5)
    expect(page.locator(f"{part} .readout")).to_contain_text(f"dimension {dimension}")
    return page.locator(f"{part} .readout").inner_text()


def test_pointing_at_a_dimension_shows_its_product(show):
    page, given = show(), cell()
    _, q, k, product = numbers(pointed_at(page, ".product", "canvas", 3, D))
    assert (q, k) == pytest.approx((given["q"][3], given["keys"].k[2][3]), abs=0.5001e-3)
    assert product == pytest.approx(q * k, abs=0.5001e-3)


def test_bars_are_as_high_as_their_weights_and_masked_ones_say_so(show):
    page, given = show(), cell()
    heights = [float(h[:-1]) for h in page.locator(".bar .fill").evaluate_all("bars => bars.map(b => b.style.height)")]
    weights = np.asarray(given["keys"].weights)
    assert np.array(heights) / max(heights) == pytest.approx(weights / weights.max(), abs=2e-4)
    assert page.locator(".bar.masked").evaluate_all("bars => bars.map(bar => bar.dataset.key)") == ["5"]
    assert bar(page, 5).get_attribute("title").endswith("(5): masked")


def test_a_click_on_a_bar_shows_that_keys_numbers(show):
    page, given = show(), cell()
    before = result(page, 5)
    bar(page, 3).click()
    assert numbers(result(page, 5))[-1] == pytest.approx(given["keys"].weights[3] * 100, abs=0.05001)
    assert result(page, 5) != before
    assert "·chased" in page.locator(".strip-row.key .name").inner_text()
    assert bar(page, 3).get_attribute("aria-selected") == "true"


def test_up_moves_the_query_and_escape_gives_the_key_back(show):
    page = show()
    page.focus(".bars")
    page.keyboard.press("ArrowUp")
    page.wait_for_function("window.calls.length > 0")
    page.keyboard.press("Escape")
    assert calls(page) == [["query", QUERY - 1], ["key", None]]


def test_a_masked_key_has_a_product_but_weight_zero(show):
    page = show(key=5)
    assert "score = q·k ÷ √8 + (−∞) = −∞" in page.locator(".panel").inner_text().replace(THIN, " ")
    assert result(page, 4) == "masked"
    assert result(page, 5) == "exp(−∞) = 0 %"
    assert facts(page)["score"] == "masked"
    assert "becomes −∞, and its weight exactly 0" in " ".join(open_step(page, 4))
    assert "0 % × v" in page.locator(".values .chosen .name").inner_text().replace(THIN, " ")


def test_a_soft_cap_is_shown_between_scale_and_mask(show):
    page, given = show(softcap=2.0), cell(softcap=2.0)
    assert "soft-cap" in page.locator(".title[data-step='3'] .words").inner_text()
    *_, scaled, capped = numbers(result(page, 3))
    assert capped == pytest.approx(2 * math.tanh(scaled / 2), abs=0.5001e-4)
    assert capped == pytest.approx(given["keys"].scores[2], abs=1e-4)
    assert "between −2 and 2" in " ".join(open_step(page, 3))


def test_a_sink_is_a_bar_of_its_own_that_is_no_key(show):
    page = show(sink=1.5)
    assert page.locator(".bar").count() == 7
    sink = page.locator(".bar.sink")
    assert "to no token" in sink.get_attribute("title")
    sink.click()
    assert calls(page) == []
    assert "The sink counts in that sum" in " ".join(open_step(page, 5))


def test_keys_that_are_not_drawn_are_counted_and_summed(show):
    page = show(total=100, n_visible=90, rest=0.25)
    assert (
        page.locator(".bar.rest").get_attribute("title").replace(THIN, " ")
        == "the other 85 visible keys together: 25.0 %"
    )
    assert "Showing the 6 of 100 keys with the largest weights" in page.locator(".softmax").inner_text()


def many(count):
    """A row of as many keys, each looked at alike."""
    return {
        "positions": list(range(count)),
        "labels": [f"{number}" for number in range(count)],
        "k": np.zeros((count, D)),
        "v": np.zeros((count, D_VALUE)),
        "dots": np.zeros(count),
        "scores": np.zeros(count),
        "weights": np.full(count, 1 / count),
    }


@pytest.mark.parametrize("key", [0, 1, 38, 39])
def test_the_chosen_bars_number_is_whole_at_the_ends_of_a_row_of_many(show, key):
    page = show(key=key, keys=many(40), total=40, n_visible=40)
    number, row = (page.locator(part).bounding_box() for part in (".bar.chosen .amount", ".scroller"))
    assert row["x"] <= number["x"]
    assert number["x"] + number["width"] <= row["x"] + row["width"]


def test_the_values_mixed_and_the_rest_add_up_to_the_output(show):
    page, given = show(), cell()
    left, right = pointed_at(page, ".values", ".output canvas", 2, D_VALUE).removeprefix("dimension 2:").split("=")
    assert round(sum(numbers(left)), 6) == numbers(right)[0] == pytest.approx(given["mixed"][2], abs=1e-3)
    lengths = page.locator(".values .strip-row .amount").all_inner_texts()
    assert float(lengths[-1]) == pytest.approx(np.linalg.norm(given["mixed"]), abs=1e-3)


def test_the_push_lists_both_ends_and_the_predicted_token(show):
    page = show()
    amounts = page.locator(".push .promoted td.amount").all_inner_texts()
    assert page.locator(".push .promoted th").all_inner_texts() == ["·was", "·ran"]
    assert [numbers(amount)[0] for amount in amounts] == [1.25, 0.5]
    assert "−0.75" in page.locator(".suppressed").inner_text()
    assert re.search(r"·was.*\+1\.25.* of its logit 12\.5", page.locator(".push").inner_text())


def test_a_push_that_cannot_be_separated_is_its_reason(show):
    page = show(push="A norm stands in between.")
    assert page.locator(".push .refused").inner_text() == "A norm stands in between."
    assert page.locator(".push table").count() == 0


def test_tokens_are_text_everywhere(show):
    page = show(key=4)
    for step in range(1, 8):
        open_step(page, step)
    assert page.locator("img").count() == 0
    assert "<img src=x" in page.locator(".strip-row.key .name").inner_text()


def test_a_step_opens_its_formula_and_closes_it_again(show):
    page = show()
    assert open_step(page, 3)[0] == "3 Scale"
    assert page.locator(".title[data-step='3']").get_attribute("aria-expanded") == "true"
    assert open_step(page, 7)[0] == "7 Push on the next token"
    assert page.locator(".title[aria-expanded='true']").count() == 1
    open_step(page, 7)
    assert page.locator(".title[aria-expanded='true']").count() == 0


def test_the_push_beyond_what_all_tokens_get_is_its_direct_attribution(show):
    """As the page Edit heads counts it."""
    said = " ".join(open_step(show(), 7)).replace("\u2068", "").replace("\u2069", "")
    assert "pushed by +0.125 on average, and ·was by +1.13 from there, which is its direct attribution" in said


@pytest.mark.parametrize("theme", [shim.LIGHT, shim.DARK])
def test_on_a_phone_nothing_is_cut_and_the_formula_unfolds_under_its_step(show, theme):
    page = show(width=390, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    open_step(page, 5)
    assert page.locator(".step.softmax .panel").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_chosen_cell_is_described_in_words(show):
    page = show()
    label = page.locator(".cell-steps").get_attribute("aria-label")
    assert label.startswith("L3H7: how ")
    assert "·dog" in label
    assert page.locator("canvas").evaluate_all("all => all.every(one => one.getAttribute('aria-label'))")
    bar(page, 3).click()
    page.wait_for_function(
        "document.querySelector('section').shadowRoot.querySelector('.spoken').textContent.includes('chased')"
    )


def test_the_standalone_page_answers_clicks_offline(static_page):
    page = static_page(
        standalone_html(
            SOURCE, CellStepsPicture(**cell()).packed(), title="L3H7", caption="a caption", lang="en"
        ).decode()
    )
    page.wait_for_selector("[data-painted]")
    before = result(page, 5)
    bar(page, 0).click()
    assert facts(page)["key"] == "0"
    assert result(page, 5) != before


def test_the_walk_goes_through_every_step_to_the_next_token_in_half_a_minute_and_is_told_where_it_ends(show):
    page = show()
    hold(page)
    page.locator(".walk").click()
    seen = []
    for _step in range(8):
        page.clock.run_for(50)
        seen.append(page.locator(".step.open").get_attribute("data-step"))
        assert page.locator(".panel .heading").inner_text().startswith(seen[-1])
        page.clock.run_for(3950)
    assert seen == list("12345678")
    page.clock.run_for(100)
    assert facts(page)["walking"] == "false"
    assert page.locator(".step.open .promoted.next th").all_inner_texts() == ["·was", "·is"]
    assert calls(page) == [["step", 8]]


def test_the_walk_pauses_where_the_reader_wants_and_a_choice_of_theirs_ends_it(show):
    page = show()
    page.locator(".title[data-step='3']").click()
    page.locator(".walk").click()  # on from the open step
    assert facts(page)["walking"] == "true"
    page.locator(".walk").click()
    assert (facts(page)["walking"], facts(page)["open"]) == ("false", "3")
    page.locator(".walk").click()
    page.keyboard.press("Escape")
    assert (facts(page)["walking"], facts(page)["open"]) == ("false", "3")
    page.locator(".walk").click()
    bar(page, 1).click()
    assert (facts(page)["walking"], facts(page)["key"]) == ("false", "1")


def carried(page) -> int:
    return page.locator(".carried").count()


def test_what_a_step_found_moves_to_the_next_unless_less_motion_is_asked_for(show):
    page = show(step=2)
    hold(page)
    page.locator(".walk").click()
    page.clock.run_for(4050)
    assert facts(page)["open"] == "3"
    assert page.locator(".carried").all_inner_texts() == [page.locator(".title[data-step='2'] .result").inner_text()]
    page.locator(".walk").click()
    assert carried(page) == 0
    page.emulate_media(reduced_motion="reduce")
    page.locator(".walk").click()
    page.clock.run_for(4050)
    assert (facts(page)["open"], carried(page)) == ("4", 0)
    page.emulate_media(reduced_motion=None)


def test_where_no_token_is_predicted_the_walk_ends_at_the_push(show):
    page = show(next=[], push="No output layer.", step=6)
    assert page.locator(".step[data-step='8']").is_hidden()
    hold(page)
    page.locator(".walk").click()
    page.clock.run_for(8100)
    assert (facts(page)["open"], facts(page)["walking"]) == ("7", "false")


def test_a_name_is_turned_only_where_its_bar_has_no_room_for_it(show):
    page = show(width=1200)
    names = page.locator(".bar .name").evaluate_all(
        "all => all.map(one => [one.textContent, one.classList.contains('upright'),"
        " one.scrollWidth <= one.closest('.bar').clientWidth, getComputedStyle(one).writingMode])"
    )
    assert {mode for _text, upright, _fits, mode in names if upright} == {"horizontal-tb"}
    assert all(fits for _text, upright, fits, _mode in names if upright)
    assert any(upright for _text, upright, _fits, _mode in names)
