"""The sampling bench under keys and typed numbers: every mistake is one sentence, and nothing typed is lost."""

from __future__ import annotations

import numpy as np
import pytest

from model_runner.errors import BadSetting
from model_runner.sampling import stages
from model_runner.transforms import Sampling
from tests.viz.components.bench_page import (
    AFTER_DOG,
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
from viz.components.sampling_bench.sampling_bench import SOURCE, TEXTS

pytestmark = pytest.mark.browser


# -- typed numbers ----------------------------------------------------------------------------------------------------


def refusal(name: str, value: float) -> str:
    with pytest.raises(BadSetting) as caught:
        Sampling(**{name: value})
    return str(caught.value)


IMPOSSIBLE = {
    "temperature": ("-1", "nan", "inf", "0.00001"), "top_p": ("0", "1.5"), "top_k": ("-3", "2.5"), "min_p": ("1",),
    "typical_p": ("-0.5",), "repetition_penalty": ("0",),
}  # fmt: skip


@pytest.mark.long
def test_an_impossible_number_is_refused_in_pythons_words_and_changes_nothing(mount):
    page = mount(SOURCE, on_the_model(a={"temperature": 0.8}), style=WIDE)
    for name, texts in IMPOSSIBLE.items():
        before, told = final(page), sent(page)
        problem = row(page, name).locator(".problem")
        for text in texts:
            type_value(page, name, text)
            value = float(text)
            shown = str(int(value)) if value.is_integer() else f"{value}"
            words = refusal(name, int(value) if value.is_integer() else value)
            assert problem.text_content().replace(text, shown) == words
            assert row(page, name).locator(".value").input_value() == text  # nothing typed is lost
            np.testing.assert_array_equal(final(page), before)
            assert sent(page) == told
        type_value(page, name, "0.5" if name != "top_k" else "5")
        assert problem.is_hidden()


@pytest.mark.parametrize("text", ["abc", "", "0x10", "1,5", "1 2"])
def test_what_is_no_number_is_said_to_be_none(mount, text):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    type_value(page, "temperature", text or " ")
    assert row(page, "temperature").locator(".problem").text_content() == f"“{text}” is not a number for temperature."


def test_a_huge_temperature_is_nearly_uniform(mount):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    type_value(page, "temperature", "1e30")
    np.testing.assert_allclose(final(page), 1 / len(labels()), rtol=1e-9)
    assert sent(page)[-1]["a"]["temperature"] == 1e30


# -- order, switches, keyboard ----------------------------------------------------------------------------------------


def test_a_transform_moved_by_the_keyboard_is_applied_there_and_keeps_the_focus(mount):
    chosen = {"temperature": 3.0, "top_p": 0.5}
    page = mount(SOURCE, on_the_model(a=chosen), style=WIDE)
    up = row(page, "top_p").locator(".move").first
    up.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    order = state(page, "state.settings.a.order")
    assert order.index("top_p") < order.index("temperature")
    assert (
        page.evaluate("document.querySelector('section').shadowRoot.activeElement.getAttribute('aria-label')")
        == "top-p earlier"
    )
    assert [node.get_attribute("data-transform") for node in page.locator(".transforms > li").all()] == order
    np.testing.assert_allclose(final(page), expected(Sampling(**chosen, order=tuple(order))), atol=EXACT)
    assert sent(page)[-1]["a"]["order"] == order


def test_a_switch_takes_a_transform_out_and_gives_its_value_back(mount):
    page = mount(SOURCE, on_the_model(a={"top_k": 7}), style=WIDE)
    switch = row(page, "top_k").locator("[role=switch]")
    switch.uncheck()
    assert state(page, "state.results.a.kept") == len(labels())
    assert row(page, "top_k").locator(".value").input_value() == "off"
    switch.check()
    assert state(page, "state.results.a.kept") == 7


def test_arrow_keys_on_a_slider_step_it_and_send_once_at_rest(mount):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    slider(page, "temperature").focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    assert state(page, "state.settings.a.temperature") == 0.95
    assert [told["a"]["temperature"] for told in sent(page)] == [0.95]


TAKEN_AWAY = """(html) => {
    const [name] = Object.keys(window.disposers)
    const root = document.querySelector("[data-component]").shadowRoot.querySelector(".sampling-bench")
    const place = root.parentElement
    root.remove()
    window.disposers[name]()
    place.innerHTML = html
}"""


def test_what_was_set_stands_when_the_picture_is_built_anew_of_the_data_that_it_had(mount):
    """Its host goes on sending those, and so did a walk once see 'off' beside an address with 0.99."""
    page = mount(SOURCE, on_the_model(), style=WIDE)
    slider(page, "top_p").focus()
    page.keyboard.press("ArrowLeft")
    set_to = sent(page)[-1]["a"]["top_p"]
    for data, wanted in ((on_the_model(), set_to), (on_the_model(a={"top_p": 0.5}), 0.5)):
        page.evaluate(TAKEN_AWAY, SOURCE.html)
        answer(page, data)
        assert state(page, "state.settings.a.top_p") == wanted
        assert row(page, "top_p").locator(".value").input_value() == str(wanted)


def test_arrow_keys_in_the_list_mark_a_token_and_escape_marks_none(mount):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    page.locator(".bar-list").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = int(logits().argsort(descending=True)[1])
    assert state(page, "state.find") == second
    page.keyboard.press("Escape")
    assert state(page, "state.find") is None


def test_the_summary_tells_what_is_left(mount):
    page = mount(SOURCE, on_the_model(a={"top_k": 2}), style=WIDE)
    said = page.locator(".bar-list").get_attribute("aria-label")
    want = expected(Sampling(top_k=2))
    best = int(want.argmax())
    assert said.startswith("2 of 8,192 tokens can be drawn")
    assert f"\u2068{labels()[best]}\u2069 {100 * want[best]:.1f} %" in said


# -- finding a token --------------------------------------------------------------------------------------------------


def test_a_token_found_shows_its_probability_and_rank_at_every_stage(mount):
    chosen = {"temperature": 0.7, "top_k": 30}
    page = mount(SOURCE, on_the_model(a=chosen), style=WIDE)
    token = int(logits().argsort(descending=True)[20])
    page.locator("#bench-find").fill(str(token))
    page.locator("#bench-find").press("Enter")
    told = state(page, "state.results.a.stages")
    for shown, stage in zip(told, stages(logits(), Sampling(**chosen), previous()), strict=True):
        p = stage.probabilities
        assert shown["p"] == pytest.approx(float(p[token]), abs=EXACT)
        assert shown["rank"] == int((p > p[token]).sum()) + 1
    assert page.locator(".stage.model .token-effect").text_content().endswith("rank 21")
    assert page.locator(".bar-row.marked").get_attribute("data-token") == str(token)
    type_value(page, "top_k", "5")
    assert row(page, "top_k").locator(".token-effect").text_content().endswith("removed")
    assert sent(page)[-1]["find"] == token


def test_searching_lists_the_likeliest_tokens_that_contain_the_text(mount):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    page.locator("#bench-find").fill(" th")
    order = logits().argsort(descending=True).tolist()
    want = [token for token in order if "·th" in labels()[token].lower()]
    shown = [int(button.get_attribute("data-token")) for button in page.locator(".found button").all()]
    exact = [token for token in want if labels()[token] == "·th"]
    assert shown == [*exact, *(token for token in want if token not in exact)][:5]
    assert page.locator(".found .more").text_content() == f"and {len(want) - 5} more"
    page.locator("#bench-find").fill("no such token anywhere")
    assert page.locator(".found").text_content() == TEXTS["found_none"]


def test_the_token_that_follows_in_the_text_is_named_and_can_be_marked(mount):
    page = mount(SOURCE, on_the_model(), style=WIDE)
    page.locator(".went-on").click()
    assert state(page, "state.find") == capture().tokens[AFTER_DOG + 1].id
