"""Scores moved, split, swept and compared, in a browser: what is drawn follows from the numbers given."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.viz.components import made_positions as made
from tests.viz.components import shim
from tests.viz.components.clock import hold, settle, wait
from tests.viz.components.mounted import answer, calls, facts
from viz.components.rotation import position_schemes, score_shift, score_split, score_sweep

pytestmark = pytest.mark.browser

WIDE = "section{max-width:1100px}"


def readout(page):
    settle(page)
    return page.locator(".readout").inner_text()


def shifted(m, n, scale=0.25, rest=0.5):
    """The score by complex numbers, in float64: an independent way to turn a pair."""
    q, k = (values @ [1, 1j] for values in (made.vectors(0), made.vectors(1)))
    theta = made.theta().astype(np.float32).astype(np.float64)
    return scale * float((q * np.exp(1j * m * theta) * np.conj(k * np.exp(1j * n * theta))).real.sum()) + rest


# ---- two positions --------------------------------------------------------------------------------------------------


def move(page, name, place):
    slide(page, name, place)
    settle(page)


def slide(page, name, place):
    page.locator(f".slider.{name}").evaluate(
        "(slider, place) => { slider.value = place; slider.dispatchEvent(new Event('input', { bubbles: true })) }",
        place,
    )


@pytest.mark.parametrize("m, n", [(7, 2), (60, 3), (5, 40), (2000, 1900)])
def test_the_score_is_the_product_of_both_turned_vectors(mount, m, n):
    page = mount(score_shift.SOURCE, made.shifting(positions=(m, n)), style=WIDE)
    assert float(facts(page)["score"]) == pytest.approx(shifted(m, n), abs=1e-9)


def test_moved_together_the_score_stays_and_apart_it_changes(mount):
    page = mount(score_shift.SOURCE, made.shifting(), style=WIDE)
    before = float(facts(page)["score"])
    move(page, "query", 45)
    moved = facts(page)
    assert (moved["m"], moved["n"]) == ("45", "40")
    assert float(moved["score"]) == pytest.approx(before, abs=1e-12)
    assert float(moved["spread"]) < 1e-12
    page.locator(".lock input").uncheck()
    move(page, "query", 20)
    apart = facts(page)
    assert (apart["m"], apart["n"]) == ("20", "40")
    assert float(apart["score"]) == pytest.approx(shifted(20, 40), abs=1e-9)
    assert "comes after the query" in page.locator(".notes").inner_text()


def test_locked_positions_stop_where_one_reaches_an_end(mount):
    page = mount(score_shift.SOURCE, made.shifting(), style=WIDE)
    move(page, "query", 0)
    assert (facts(page)["m"], facts(page)["n"]) == ("5", "0")
    move(page, "key", 63)
    assert (facts(page)["m"], facts(page)["n"]) == ("63", "58")


def test_both_places_are_sent_once_they_rest(mount):
    page = mount(score_shift.SOURCE, made.shifting(), style=WIDE)
    hold(page)
    for place in (9, 12, 30):
        slide(page, "query", place)
        page.clock.run_for(60)
    assert calls(page) == []
    page.clock.run_for(1000)
    assert calls(page) == [["positions", [30, 25]]]


def test_the_map_is_constant_along_its_diagonals(mount):
    page = mount(score_shift.SOURCE, made.shifting(), style=WIDE)
    at = page.locator(".score-shift").evaluate("root => root.atlas.at")
    box = page.locator("canvas").first.bounding_box()

    def color(m, n):
        x, y = (box["x"] + at["left"] + (n + 0.5) * at["cell"], box["y"] + at["top"] + (m + 0.5) * at["cell"])
        return shim.color_at(page, x, y)

    assert color(20, 11) == color(40, 31) == color(60, 51)
    assert color(20, 11) != color(40, 11)


def test_a_range_is_shown_as_asked_for_and_told_and_brings_both_places_inside_it(mount):
    page = mount(score_shift.SOURCE, made.shifting(span="far"), style=WIDE)
    assert page.locator(".slider.query").get_attribute("max") == "2047"
    page.locator(".spans button").first.click()
    wait(page, 1000)
    assert calls(page) == [["span", "near"]]  # both places are inside: nothing else to tell
    answer(page, made.shifting(positions=(90, 80)))
    page.locator(".spans button").first.click()
    wait(page, 1000)
    assert calls(page)[1:] == [["span", "near"], ["positions", [63, 53]]]


def test_a_softcap_bends_the_score(mount):
    page = mount(score_shift.SOURCE, made.shifting(softcap=0.5), style=WIDE)
    assert float(facts(page)["score"]) == pytest.approx(0.5 * np.tanh(shifted(7, 2) / 0.5), abs=1e-9)


# ---- by frequency ---------------------------------------------------------------------------------------------------


def cell_of(page, pair, column):
    at = json.loads(facts(page)["geometry"])
    box = page.locator("canvas").bounding_box()
    return (
        box["x"] + at["map"] + (column + 0.5) * at["column"],
        box["y"] + at["top"] + (pair + 0.5) * at["row"],
    )


def test_the_parts_of_the_chosen_key_add_up_to_its_score(mount):
    page = mount(score_split.SOURCE, made.splitting(rest=np.full(made.KEYS, 0.25), n_rest=4), style=WIDE)
    score = made.contributions()[:, 2].sum() + 0.25
    assert float(facts(page)["score"]) == pytest.approx(score, abs=1e-5)
    assert f"{score:+.3f}".replace("-", "−") in readout(page)


def test_pointing_at_a_cell_says_its_part_and_a_click_keeps_its_key(mount):
    page = mount(score_split.SOURCE, made.splitting(), style=WIDE)
    page.mouse.click(*cell_of(page, 3, 4))
    assert f"{made.contributions()[3, 4]:+.3f}".replace("-", "−") in readout(page)
    page.mouse.move(5, 5)
    wait(page, 60)
    assert facts(page)["key"] == "4"


def test_a_masked_key_says_so_and_is_grey(mount):
    page = mount(score_split.SOURCE, made.splitting(key=made.KEYS - 1), style=WIDE)
    assert "This key is masked" in readout(page)
    first, second = (shim.color_at(page, *cell_of(page, pair, made.KEYS - 1)) for pair in (0, 5))
    assert first == second != shim.color_at(page, *cell_of(page, 0, 0))


def test_a_softcapped_score_is_said(mount):
    page = mount(score_split.SOURCE, made.splitting(softcap=2.0), style=WIDE)
    score = f"{2 * np.tanh(made.contributions()[:, 2].sum() / 2):+.3f}".replace("-", "−")
    assert f"The soft-cap makes it {score}." in readout(page)


# ---- against distance -----------------------------------------------------------------------------------------------


def test_the_peak_of_the_open_head_is_said_with_its_score(mount):
    page = mount(score_sweep.SOURCE, made.sweeping(head=1), style=WIDE)
    assert facts(page)["peak"] == "1"
    words = readout(page)
    assert "L3H1 scores highest at distance 1: 9.00." in words
    assert "10 % of its attention on the token before" in words


def test_the_heads_that_share_keys_and_values_with_the_open_one_are_said(mount):
    page = mount(score_sweep.SOURCE, made.sweeping(head=1, group=2), style=WIDE)
    assert "H0–H1 share their keys and values." in readout(page)
    page = mount(score_sweep.SOURCE, made.sweeping(head=1), style=WIDE)
    assert "share" not in readout(page)


def test_arrows_walk_the_curve_and_say_its_scores(mount):
    page = mount(score_sweep.SOURCE, made.sweeping(head=1), style=WIDE)
    page.locator("canvas").first.press("ArrowRight")
    page.wait_for_function(
        "document.querySelector('section').shadowRoot.querySelector('.score-sweep').dataset.distance == '2'"
    )
    score = f"{made.curves()[1, 2]:.2f}".replace("-", "−")
    assert f"At distance 2: {score}." in readout(page)


@pytest.mark.parametrize("head", [1, 2])
def test_a_head_without_scores_says_so_and_the_others_are_drawn(mount, head):
    scores = made.curves()
    scores[2] = np.nan
    page = mount(score_sweep.SOURCE, made.sweeping(head=head, scores=scores), style=WIDE)
    without = "L3H2 has no softmax scores here."
    assert (without in readout(page)) is (head == 2)
    said = page.locator("canvas").nth(1).get_attribute("aria-label")
    assert without in said
    assert "L3H1 scores highest at distance 1: 9.00." in said
    assert "NaN" not in said


# ---- all of them ----------------------------------------------------------------------------------------------------


def test_every_scheme_has_two_pictures_and_its_facts(mount):
    page = mount(position_schemes.SOURCE, made.comparing(), style=WIDE)
    for name in ("alibi", "learned"):
        card = page.locator(f"[data-scheme={name}]")
        assert card.locator("canvas").count() == 2
        words = ("formula", "note", "enters", "stores", "depends", "extrapolates", "paper")
        assert all(f"{word} of {name}" in card.inner_text() for word in words)
    assert "alibi against distance: 0 at 0" in page.locator("[data-scheme=alibi] .chart").get_attribute("aria-label")


def test_whether_both_move_together_is_told_and_shown_as_the_page_has_it(mount):
    page = mount(score_shift.SOURCE, made.shifting(lock=False), style=WIDE)
    lock = page.locator(".lock input")
    assert not lock.is_checked()
    lock.check()
    assert calls(page) == [["lock", True]]
    answer(page, made.shifting(lock=False, positions=(8, 2)))  # of before the click
    assert lock.is_checked()
    answer(page, made.shifting(lock=True))
    assert lock.is_checked()
