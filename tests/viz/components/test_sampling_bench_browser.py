"""The sampling bench in a browser, without a server: what is drawn is Python's, nothing is sent while dragging."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from model_runner.sampling import stages
from model_runner.transforms import TRANSFORMS, Sampling
from tests.viz.components.bench_page import (
    EXACT,
    WIDE,
    capture,
    expected,
    final,
    labels,
    logits,
    on_the_model,
    previous,
    row,
    sent,
    slider,
    state,
    type_value,
)
from tests.viz.components.mounted import answer
from tests.viz.components.test_sampling_bench import LABELS, bench, settings
from viz.components.sampling_bench.sampling_bench import SOURCE, TEXTS
from viz.share_text import share_digits

pytestmark = pytest.mark.browser


# -- what is drawn ----------------------------------------------------------------------------------------------------

CHOSEN = (
    {"temperature": 0.7, "top_p": 0.9},
    {"temperature": 1.5, "top_k": 40, "min_p": 0.02, "repetition_penalty": 1.3},
    {"typical_p": 0.4, "order": ("typical_p", "top_p", "temperature", "min_p", "top_k", "repetition_penalty")},
)


@pytest.mark.parametrize("chosen", CHOSEN, ids=str)
def test_the_distribution_and_every_stage_are_pythons(mount, chosen):
    page = mount(SOURCE, on_the_model(a=chosen), style=WIDE)
    sampling = Sampling(**chosen)
    np.testing.assert_allclose(final(page), expected(sampling), atol=EXACT)
    told = state(page, "state.results.a.stages")
    for shown, stage in zip(told, stages(logits(), sampling, previous()), strict=True):
        assert shown["kept"] == stage.kept
        assert shown["keptMass"] == pytest.approx(stage.kept_mass, abs=EXACT)
        assert shown["entropy"] == pytest.approx(stage.entropy, abs=1e-6)


@pytest.mark.parametrize("width", [360, 640, 820, 1080])
@pytest.mark.parametrize("compare", [False, True])
def test_the_numbers_of_an_axis_stand_apart(mount, width, compare):
    page = mount(SOURCE, on_the_model(compare=compare), style=f"section{{width:{width}px;max-width:none}}")
    state(page, "1")
    ends = page.locator(".axis.a span").evaluate_all(
        """(spans) => spans.filter((span) => getComputedStyle(span).visibility !== "hidden").map((span) => {
            const range = document.createRange()
            range.selectNodeContents(span)
            const { left, right } = range.getBoundingClientRect()
            return [left, right]
        })"""
    )
    assert len(ends) == 3 or (compare and len(ends) == 2)
    assert all(left[1] + 2 <= right[0] for left, right in itertools.pairwise(ends))


@pytest.mark.parametrize("width", [330, 700, 730, 900, 1080])
def test_a_slider_is_long_enough_to_be_set(mount, width):
    page = mount(SOURCE, on_the_model(), style=f"section{{width:{width}px;max-width:none}}")
    state(page, "1")
    lengths = page.locator("input[type=range]").evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
    assert min(lengths) >= 100


@pytest.mark.parametrize("chosen", CHOSEN, ids=str)
def test_the_bars_are_as_long_as_pythons_probabilities(mount, chosen):
    page = mount(SOURCE, on_the_model(a=chosen), style=WIDE)
    want = expected(Sampling(**chosen))
    own = logits().double().softmax(0).numpy()
    rows = page.evaluate(
        """() => {
            const root = document.querySelector("[data-component=sampling_bench]").shadowRoot
            const width = (node) => node.getBoundingClientRect().width
            return [...root.querySelectorAll(".bar-list .bar-row:not([hidden])")].map((row) => ({
                token: Number(row.dataset.token), removed: row.classList.contains("removed"),
                own: width(row.querySelector(".track.a .own")), final: width(row.querySelector(".track.a .final")),
                lane: width(row.querySelector(".track.a .lane")),
                amount: row.querySelector(".track.a .amount").textContent,
            }))
        }"""
    )
    assert len(rows) == 15
    scale = state(page, "state.scale")
    for bar in rows:
        token, lane = bar["token"], bar["lane"] - 1  # but for its border
        assert bar["final"] == pytest.approx(want[token] / scale * lane, abs=0.6), labels()[token]
        assert bar["own"] == pytest.approx(max(1.0, own[token] / scale * lane), abs=0.6)  # its border is 1 px wide
        assert bar["removed"] == (want[token] == 0)
    likely = max(rows, key=lambda bar: bar["final"])
    assert likely["amount"] == f"{share_digits(float(want[likely['token']]))} %"


def test_the_kept_tokens_end_at_the_cut_and_the_others_are_counted(mount):
    page = mount(SOURCE, on_the_model(a={"top_k": 4}), style=WIDE)
    assert page.locator(".cut.a").text_content() == "4 kept"
    fourth, cut = page.locator(".bar-list .bar-row").nth(3).bounding_box(), page.locator(".cut.a").bounding_box()
    assert cut["y"] == pytest.approx(fourth["y"] + fourth["height"], abs=1)
    assert page.locator(".bar-row.rest .label").text_content() == f"{len(labels()) - 15:,} others"
    type_value(page, "top_k", "off")
    assert page.locator(".cut.a").is_hidden()
    rest = 1 - sum(sorted(expected(Sampling()), reverse=True)[:15])
    torn = page.locator(".bar-row.rest .track.a").evaluate("node => node.classList.contains('cut-off')")
    assert torn == (rest > state(page, "state.scale"))
    type_value(page, "temperature", "2")  # and now the others have more than any token
    assert state(page, "state.scale") < 0.5
    assert page.locator(".bar-row.rest .track.a").get_attribute("title") == TEXTS["cut_off"]
    assert page.locator(".bar-list .cut-off").count() == 0


def test_temperature_zero_is_greedy_and_says_so(mount):
    page = mount(SOURCE, on_the_model(a={"temperature": 0.0}), style=WIDE)
    assert int(final(page).argmax()) == int(logits().argmax())
    assert state(page, "state.results.a.kept") == 1
    assert row(page, "temperature").locator(".effect").text_content() == TRANSFORMS["temperature"].at_zero


def test_one_token_always_stays_and_the_page_says_so(mount):
    strict = {"temperature": 0.1, "top_k": 1, "top_p": 0.01, "min_p": 0.99, "typical_p": 0.01}
    page = mount(SOURCE, on_the_model(a=strict), style=WIDE)
    assert state(page, "state.results.a.kept") == 1
    assert page.locator(".note").text_content() == TEXTS["one_left"]


def test_a_top_k_beyond_the_vocabulary_keeps_every_token_and_says_so(mount):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    type_value(page, "top_k", "9000")
    assert page.locator(".note").text_content() == "The vocabulary has 8,192 tokens: with top-k 9,000 all of them stay."
    np.testing.assert_allclose(final(page), expected(Sampling(top_k=9000)), atol=EXACT)


@pytest.mark.parametrize("broken", [np.nan, np.inf, "nothing"])
def test_broken_logits_are_said_and_nothing_is_drawn(mount, broken):
    bad = (
        np.full(4, -np.inf, dtype=np.float32) if broken == "nothing" else np.array([0, broken, 1, 2], dtype=np.float32)
    )
    page = mount(SOURCE, bench(bad, LABELS), style=WIDE)
    assert page.locator(".broken").text_content() == TEXTS["broken"]
    assert page.locator(".controls").is_hidden()
    assert page.locator("canvas").is_hidden()


def test_a_token_the_model_itself_removed_is_removed_from_the_start(mount):
    page = mount(SOURCE, bench(np.array([0, -np.inf, 1, 2], dtype=np.float32)), style=WIDE)
    assert page.locator(".stage.model .effect").text_content().endswith("3 tokens")
    assert page.locator(".bar-row.removed .label").all_text_contents() == ["·a"]


def test_a_token_that_is_as_good_as_impossible_is_not_said_to_be_removed(mount):
    """At a low temperature, where its probability is less than a number of 64 bits holds."""
    page = mount(SOURCE, bench(np.array([0, 20, 1, 2], dtype=np.float32), a={"temperature": 0.01}, find=0), style=WIDE)
    assert state(page, "state.results.a.final[0]") == 0
    assert page.locator(".bar-row.removed, .bar-row:not([hidden]) .gone").count() == 0
    assert page.locator(".bar-row:not([hidden]) .track.a .amount").all_text_contents() == [
        "100 %",
        *["< 10⁻³⁰⁰ %"] * 3,
    ]
    assert "< 10⁻³⁰⁰ %" in row(page, "temperature").locator(".token-effect").text_content()
    type_value(page, "top_k", "2")
    assert page.locator(".bar-row.removed").count() == 2


# -- dragging ---------------------------------------------------------------------------------------------------------


def test_dragging_redraws_every_frame_and_sends_nothing_until_release(mount):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    box = slider(page, "temperature").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    seen = []
    for share in (0.6, 0.7, 0.8, 0.2):
        page.mouse.move(box["x"] + box["width"] * share, y)
        value = state(page, "state.settings.a.temperature")
        np.testing.assert_allclose(final(page), expected(Sampling(temperature=value)), atol=EXACT)
        seen.append(value)
    assert len(set(seen)) == 4
    assert sent(page) == []  # however long it is held
    page.mouse.up()
    (told,) = sent(page)
    assert told["a"] == settings() | {"temperature": seen[-1]}


def test_a_rerun_in_the_middle_of_a_drag_does_not_move_the_slider_back(mount):
    data = on_the_model()
    page = mount(SOURCE, data, style=WIDE)
    box = slider(page, "temperature").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 9)
    held = state(page, "state.settings.a.temperature")
    answer(page, data)
    assert state(page, "state.settings.a.temperature") == held != 1
    page.mouse.up()
    assert sent(page)[-1]["a"]["temperature"] == held


def test_another_position_brings_its_own_distribution_and_keeps_the_settings(mount):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    type_value(page, "top_k", "3")
    assert sent(page)[-1]["a"]["top_k"] == 3
    there = capture().logits(4)
    other = bench(there.numpy(), labels(), a={"top_k": 3}, previous=previous())
    answer(page, other)
    want = stages(there, Sampling(top_k=3), previous())[-1].probabilities.numpy()
    np.testing.assert_allclose(final(page), want, atol=EXACT)
