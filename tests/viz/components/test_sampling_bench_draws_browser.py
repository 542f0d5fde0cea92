"""Draws in the sampling bench are Python's, and two settings stand side by side."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from model_runner.transforms import Sampling
from tests.viz.components import shim
from tests.viz.components.bench_page import (
    EXACT,
    WIDE,
    drawn,
    expected,
    final,
    labels,
    on_the_model,
    row,
    sent,
    state,
    type_value,
)
from viz.components.sampling_bench.sampling_bench import SOURCE

pytestmark = pytest.mark.browser


# -- draws ------------------------------------------------------------------------------------------------------------


def test_draws_are_pythons_and_the_same_seed_gives_them_again(mount):
    page = mount(SOURCE, on_the_model(a={"temperature": 1.2}), style=WIDE)
    for button in (0, 1, 2):
        page.locator(".draw").nth(button).click()
    page.wait_for_function(
        "document.querySelector('section').shadowRoot.querySelector('.sampling-bench').dataset.draws === '1011'"
    )
    want = np.bincount(drawn(Sampling(temperature=1.2), 1011), minlength=len(labels()))
    np.testing.assert_array_equal(state(page, "Array.from(state.results.a.counts)"), want)
    assert sent(page)[-1]["draws"] == 1011
    page.locator("#bench-seed").fill("7")
    page.locator("#bench-seed").press("Enter")
    other = np.bincount(drawn(Sampling(temperature=1.2, seed=7), 1011), minlength=len(labels()))
    np.testing.assert_array_equal(state(page, "Array.from(state.results.a.counts)"), other)
    page.locator("#bench-seed").fill("0")
    page.locator("#bench-seed").press("Enter")
    np.testing.assert_array_equal(state(page, "Array.from(state.results.a.counts)"), want)
    page.locator(".clear").click()
    assert state(page, "state.draws") == 0


def test_one_draw_names_the_token_that_generation_would_take_next(mount):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    page.locator(".draw").first.click()
    (token,) = drawn(Sampling(), 1)
    assert state(page, "state.results.a.latest") == [token]
    assert page.locator(".latest").text_content().strip("\u2068\u2069") == labels()[token]


def test_chi_squared_counts_rare_tokens_together(mount):
    page = mount(SOURCE, on_the_model(draws=400), style=WIDE)
    p = expected(Sampling())
    counts = np.bincount(drawn(Sampling(), 400), minlength=len(p))
    often = 400 * p >= 5
    o = np.array([*counts[often], counts[~often].sum()])
    e = 400 * np.array([*p[often], p[~often].sum()])
    value = float(((o - e) ** 2 / e).sum())
    freedom = len(o) - 1
    said = page.locator(".chi").text_content()
    assert float(said.split(",")[0].removeprefix("χ² = ")) == pytest.approx(value, rel=5e-3)
    assert f"degrees of freedom {freedom}:" in said


@pytest.mark.parametrize(
    "text, said", [("1.5", "The seed is 1.5; it must be a whole number."), ("x", "“x” is not a number for seed.")]
)
def test_a_seed_that_is_none_is_refused_and_stays_in_its_field(mount, text, said):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    page.locator("#bench-seed").fill(text)
    page.locator("#bench-seed").press("Enter")
    state(page, "0")
    assert page.locator(".draws .problem").text_content() == said
    assert page.locator("#bench-seed").input_value() == text
    assert sent(page) == []


# -- two settings -----------------------------------------------------------------------------------------------------


def test_two_settings_stand_side_by_side_with_the_same_seed(mount):
    page = mount(SOURCE, on_the_model(a={"temperature": 1.3, "seed": 4}, draws=100), style=WIDE)
    page.locator("input.compare").check()
    type_value(page, "top_k", "6")  # the second one is edited now
    np.testing.assert_allclose(final(page, "a"), expected(Sampling(temperature=1.3)), atol=EXACT)
    np.testing.assert_allclose(final(page, "b"), expected(Sampling(top_k=6)), atol=EXACT)
    want = np.bincount(drawn(Sampling(top_k=6, seed=4), 100), minlength=len(labels()))
    np.testing.assert_array_equal(state(page, "Array.from(state.results.b.counts)"), want)
    told = sent(page)[-1]
    assert (told["compare"], told["b"]["top_k"], told["a"]["temperature"]) == (True, 6, 1.3)
    assert page.locator(".bar-row .track.b").first.is_visible()
    page.locator(".tab.a").click()
    state(page, "0")
    assert row(page, "temperature").locator(".value").input_value() == "1.3"


def test_the_given_comparison_is_shown(mount):
    page = mount(SOURCE, on_the_model(b={"temperature": 0.5}, compare=True), style=WIDE)
    np.testing.assert_allclose(final(page, "b"), expected(Sampling(temperature=0.5)), atol=EXACT)
    assert asdict(Sampling())["temperature"] == state(page, "state.settings.a.temperature")


@pytest.mark.long
@pytest.mark.parametrize("width, theme", [(390, shim.LIGHT), (1440, shim.DARK)])
def test_nothing_is_wider_than_the_window(mount, width, theme):
    page = mount(SOURCE, on_the_model(draws=1000, compare=True), width=width, theme=theme, style="")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
