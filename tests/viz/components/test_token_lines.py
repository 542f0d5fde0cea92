"""The token lines: what their payload says, and what a reader sees under mouse, finger and keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.viz.components import shim
from tests.viz.components.clock import hold
from tests.viz.components.mounted import answer, calls, facts
from tests.viz.components.test_packing import unpacked
from viz.color import palette
from viz.components.token_lines.token_lines import MAX_ROWS, SOURCE, TEXTS, THRESHOLD, TokenLinesPicture

WORDS = ["⟨bos⟩", "The", "·dog", "·the", "·the"]
NAN = float("nan")
FIRST = np.array(
    [
        [1.00, NAN, NAN, NAN, NAN],
        [0.01, 0.99, NAN, NAN, NAN],
        [0.30, 0.69, 0.01, NAN, NAN],
        [0.25, 0.25, 0.25, 0.25, NAN],
        [0.0001, 0.10, 0.50, 0.3899, 0.01],
    ],
    dtype=np.float32,
)
SECOND = np.tril(np.full((5, 5), 0.2, dtype=np.float32)) + np.triu(np.full((5, 5), np.nan, dtype=np.float32), 1)


def lines(weights=FIRST, words=WORDS, offset=0, **changes):
    stacked = weights if weights.ndim == 3 else weights[None]
    arguments: dict[str, Any] = {
        "queries": words,
        "keys": words,
        "query_offset": offset,
        "key_offset": offset,
        "weights": stacked,
        "head_labels": ["L3H7", "L5H5"][: len(stacked)],
        "selected": None,
        "texts": TEXTS,
        **changes,
    }
    return TokenLinesPicture(**arguments).packed()


def visible(weights):
    """How many lines the rule gives: every weight of at least the threshold."""
    return sum(1 for weight in np.asarray(weights).ravel().tolist() if weight >= THRESHOLD)


def test_the_payload_carries_the_weights_as_they_are():
    meta, arrays = unpacked(lines(np.stack([FIRST, SECOND]), selected=3))
    np.testing.assert_array_equal(arrays["weights"], np.stack([FIRST, SECOND]))
    assert meta["queries"] == WORDS
    assert meta["selected"] == 3
    assert meta["cut"] is False


def test_at_most_96_rows_are_carried_and_the_cut_is_known():
    n = MAX_ROWS + 4
    words = [f"w{i}" for i in range(n)]
    meta, arrays = unpacked(lines(np.zeros((1, n, n), dtype=np.float32), words))
    assert arrays["weights"].shape == (1, MAX_ROWS, MAX_ROWS)
    assert len(meta["keys"]) == MAX_ROWS
    assert meta["cut"] is True


@pytest.mark.parametrize("shape", [(3, 5, 5), (1, 5, 4), (0, 5, 5)])
def test_weights_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match="weights of shape"):
        lines(np.zeros(shape, dtype=np.float32), head_labels=["a"] * shape[0])


def row(page, side, index):
    return page.locator(f'.token-lines [data-side="{side}"][data-row="{index}"]')


def amounts(page):
    """The percentage beside each key that has one."""
    found = page.locator(".key .amount").evaluate_all(
        "nodes => nodes.map(node => [node.parentNode.dataset.row, node.textContent])"
    )
    return [(int(index), text) for index, text in found if text]


@pytest.mark.browser
def test_every_weight_of_two_percent_is_one_line_as_opaque_as_it_is_large(mount):
    page = mount(SOURCE, lines())
    opacities = page.locator(".all path").evaluate_all(
        "paths => paths.map(path => Number(path.getAttribute('stroke-opacity')))"
    )
    expected = [weight for weight in FIRST.ravel().tolist() if weight >= THRESHOLD]
    assert opacities == pytest.approx(expected, abs=5e-4)  # written with three decimals
    assert facts(page)["lines"] == str(visible(FIRST))
    assert "Lines under 2 % are left out." in page.locator(".legend").inner_text()


@pytest.mark.browser
def test_a_line_runs_from_its_query_to_its_key(mount):
    weights = np.zeros((5, 5), dtype=np.float32)
    weights[4, 1] = 1.0
    page = mount(SOURCE, lines(weights))
    path, query, key = (
        node.bounding_box() for node in (page.locator(".all path"), row(page, "query", 4), row(page, "key", 1))
    )
    assert query["y"] < path["y"] + path["height"] < query["y"] + query["height"]
    assert key["y"] < path["y"] < key["y"] + key["height"]


@pytest.mark.browser
@pytest.mark.parametrize("theme, side", [(shim.LIGHT, "light"), (shim.DARK, "dark")])
def test_two_heads_have_two_colours_and_a_legend(mount, theme, side):
    page = mount(SOURCE, lines(np.stack([FIRST, SECOND])), theme=theme)
    colors = page.locator(".all path").evaluate_all(
        "paths => [...new Set(paths.map(path => path.getAttribute('stroke')))]"
    )
    primary = tuple(int(theme["--st-primary-color"][i : i + 2], 16) for i in (1, 3, 5))
    assert colors == ["rgb({},{},{})".format(*primary), "rgb({},{},{})".format(*palette()["compare"][side])]
    assert page.locator(".legend .head").all_inner_texts() == ["L3H7", "L5H5"]
    assert facts(page)["lines"] == str(visible(FIRST) + visible(SECOND))


@pytest.mark.parametrize("theme", [shim.LIGHT, shim.DARK])
def test_small_shares_and_their_tokens_are_quiet_words_and_not_faint_ones(mount, theme):
    page = mount(SOURCE, lines(), theme=theme)
    row(page, "query", 4).hover()
    quiet = page.locator(".token-lines").evaluate("node => getComputedStyle(node).getPropertyValue('--aa-quiet')")
    looks = (
        page.locator(".key.faded")
        .first.locator("text")
        .evaluate_all("nodes => nodes.map((node) => [getComputedStyle(node).fill, getComputedStyle(node).opacity])")
    )
    assert len(looks) == 3  # the token, its position, its share
    assert {fill.replace(" ", "") for fill, _ in looks} == {quiet.replace(" ", "")}
    assert {opacity for _, opacity in looks} == {"1"}


@pytest.mark.browser
def test_hovering_a_query_leaves_its_lines_and_prints_its_weights(mount):
    page = mount(SOURCE, lines())
    page.evaluate("addEventListener('atlas-row', ({ detail }) => { window.row = detail })")
    row(page, "query", 4).hover()
    assert page.evaluate("row.token") == 4
    assert facts(page)["active"] == "query 4"
    assert facts(page)["lines"] == "3"
    assert amounts(page) == [(0, "< 0.1 %"), (1, "10 %"), (2, "50 %"), (3, "39 %"), (4, "1.0 %")]
    page.mouse.move(1200, 700)
    assert facts(page)["active"] == ""
    assert amounts(page) == []
    assert calls(page, "query") == []


@pytest.mark.browser
def test_masked_keys_have_no_number(mount):
    page = mount(SOURCE, lines(selected=1))
    assert amounts(page) == [(0, "1.0 %"), (1, "99 %")]


@pytest.mark.browser
def test_hovering_a_key_shows_who_looks_at_it(mount):
    page = mount(SOURCE, lines())
    row(page, "key", 0).hover()
    assert facts(page)["active"] == "key 0"
    assert facts(page)["lines"] == str(visible(FIRST[:, 0]))
    faded = page.locator(".query.faded").evaluate_all("rows => rows.map(row => Number(row.dataset.row))")
    assert faded == [query for query in range(5) if not FIRST[query, 0] >= THRESHOLD]


@pytest.mark.browser
def test_a_click_pins_a_position_of_the_whole_text_and_a_second_releases_it(mount):
    page = mount(SOURCE, lines(offset=100))
    assert page.locator(".query .place").all_text_contents() == ["100", "101", "102", "103", "104"]
    row(page, "query", 3).click()
    assert facts(page)["pinned"] == "103"
    page.mouse.move(1200, 700)
    assert facts(page)["active"] == "query 103"
    row(page, "query", 3).click()
    assert calls(page, "query") == [103, None]


@pytest.mark.browser
def test_a_selected_query_outside_the_rows_leaves_the_whole_picture(mount):
    page = mount(SOURCE, lines(offset=100, selected=7))
    assert facts(page)["active"] == ""
    assert facts(page)["lines"] == str(visible(FIRST))


@pytest.mark.browser
def test_a_tap_on_a_key_holds_it_until_the_next_tap(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.set_content(shim.page((SOURCE, lines())))
    page.wait_for_function("window.ready")
    row(page, "key", 1).tap()
    assert facts(page)["active"] == "key 1"
    row(page, "query", 2).tap()
    assert facts(page)["active"] == "query 2"
    assert calls(page, "query") == [2]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_arrows_move_the_query_enter_pins_and_escape_clears(mount):
    page = mount(SOURCE, lines(offset=10))
    hold(page)
    page.locator(".scroller").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert facts(page)["active"] == "query 11"
    page.clock.run_for(1000)
    assert calls(page, "query") == [11]
    page.keyboard.press("ArrowRight")
    assert facts(page)["active"] == "key 11"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert calls(page, "query") == [11, 11]
    page.keyboard.press("Escape")
    assert calls(page, "query") == [11, 11, None]
    assert facts(page)["active"] == ""


@pytest.mark.browser
def test_the_active_row_is_said_in_words(mount):
    page = mount(SOURCE, lines())
    row(page, "query", 4).hover()
    spoken = page.locator("[aria-live]")
    page.wait_for_function("document.querySelector('section').shadowRoot.querySelector('[aria-live]').textContent")
    assert spoken.inner_text().replace("\u2068", "").replace("\u2069", "") == "·the puts 50 % on ·dog"


@pytest.mark.browser
def test_tokens_that_look_like_html_are_shown_and_do_not_run(mount):
    evil = ["<script>window.ran = 1</script>", "<img src=x onerror='window.ran = 1'>", "&amp;", "שלום", "注"]
    page = mount(SOURCE, lines(words=evil, head_labels=[evil[0]]))
    titles = page.locator(".query title").evaluate_all("nodes => nodes.map(node => node.textContent)")
    assert all(word in title for word, title in zip(evil, titles, strict=True))
    assert page.locator(".token-lines :is(script, img)").count() == 0
    assert page.evaluate("window.ran") is None


@pytest.mark.browser
def test_96_rows_scroll_inside_and_show_the_pinned_query(mount):
    words = [f"w{i}" for i in range(96)]
    page = mount(SOURCE, lines(np.full((96, 96), 1 / 96, dtype=np.float32), words, selected=90))
    scroller = page.locator(".scroller").bounding_box()
    pinned = row(page, "query", 90).bounding_box()
    assert scroller["height"] <= 560
    assert scroller["y"] <= pinned["y"]
    assert pinned["y"] + pinned["height"] <= scroller["y"] + scroller["height"]
    assert page.evaluate("scrollY") == 0


@pytest.mark.browser
def test_a_rerun_draws_new_weights(mount):
    page = mount(SOURCE, lines(selected=4))
    answer(page, lines(SECOND, selected=4))
    assert amounts(page) == [(key, "20 %") for key in range(5)]


@pytest.mark.browser
def test_rows_are_kept_for_another_head_and_made_anew_for_another_text(mount):
    page = mount(SOURCE, lines())
    before = row(page, "key", 1).element_handle()
    answer(page, lines(SECOND))
    assert row(page, "key", 1).evaluate("(now, before) => now === before", before)
    answer(page, lines(SECOND, words=["⟨bos⟩", "A", "·cat", "·the", "·the"]))
    assert "A" in row(page, "key", 1).locator("text").first.text_content()


@pytest.mark.browser
def test_in_a_narrow_figure_whole_percentages_take_the_place_of_positions(page):
    data = lines(np.stack([FIRST, SECOND]), selected=4)
    page.set_content(shim.page((SOURCE, data), style="section{width:224px}"))
    page.wait_for_function("window.ready")
    shown = ", ".join(text for _, text in amounts(page))
    assert shown == "< 1 %, 20 %, 10 %, 20 %, 50 %, 20 %, 39 %, 20 %, 1 %, 20 %"
    assert page.locator(".key .place:visible").count() == 0
    assert page.locator(".query .place:visible").count() == 5
    picture = page.locator(".scroller").bounding_box()
    for box in page.locator(".key .amount").all():
        edge = box.bounding_box()
        assert edge["x"] + edge["width"] <= picture["x"] + picture["width"]
