"""The token strip: what its payload says, and what a reader can do with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.viz.components import shim
from tests.viz.components.mounted import answer, calls
from tests.viz.components.test_packing import unpacked
from viz.color import sequential
from viz.components.token_strip.token_strip import SOURCE, TEXTS, MetricBars, TokenStripPicture

WORDS = ["⟨bos⟩", "The", "·dog", "·and", "·the", "🦊", "·the", "⏎"]
COUNTS = [1, 1, 1, 1, 1, 3, 1, 1]  # the fox is three tokens: positions 5, 6 and 7
FOX = ["<0xF0><0x9F>", "<0xA6>", "<0x8A>"]


def strip(labels=WORDS, counts=None, **changes):
    n = len(labels)
    counts = counts or (COUNTS if labels is WORDS else [1] * n)
    arguments: dict[str, Any] = {
        "labels": labels,
        "positions": [sum(counts[:i]) for i in range(n)],
        "counts": counts,
        "parts": [FOX if count > 1 else [label] for label, count in zip(labels, counts, strict=True)],
        "special": [label.startswith("⟨") for label in labels],
        "metric": np.full(n, np.nan, dtype=np.float32),
        "values": [""] * n,
        "selected": None,
        "looked_at": None,
        "texts": TEXTS,
        **changes,
    }
    return TokenStripPicture(**arguments).packed()


def test_the_payload_carries_every_chip():
    meta, arrays = unpacked(strip(selected=7, looked_at=4))
    assert meta["labels"] == WORDS
    assert meta["parts"][5] == FOX
    assert (meta["selected"], meta["looked_at"]) == (7, 4)
    assert arrays["positions"].tolist() == [0, 1, 2, 3, 4, 5, 8, 9]
    assert arrays["special"].tolist() == [1, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("name, short", [("positions", [0]), ("special", [True]), ("values", [""])])
def test_lists_of_another_length_are_refused(name, short):
    with pytest.raises(ValueError, match=f"8 labels but 1 {name}"):
        strip(**{name: short})


def test_a_metric_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"metric of shape \(3,\)"):
        strip(metric=np.zeros(3, dtype=np.float32))


def chip(page, index):
    return page.locator(f'.token-strip [data-chip="{index}"]')


def selected(page):
    return page.locator(".token-strip").get_attribute("data-selected")


def seen_whole(page, index):
    return chip(page, index).evaluate(
        """node => {
            const [inner, outer] = [node.getBoundingClientRect(), node.parentElement.getBoundingClientRect()]
            return inner.top >= outer.top && inner.bottom <= outer.bottom
        }"""
    )


@pytest.mark.browser
def test_repeated_tokens_are_different_chips(mount):
    page = mount(SOURCE, strip())
    chip(page, 6).click()
    assert calls(page, "token") == [8]
    assert page.locator(".chip.selected .place").all_inner_texts() == ["8"]


def framed(page):
    """Where the blue frame and the red one are."""
    return [page.locator(f".chip.{name} .place").all_inner_texts() for name in ("selected", "looked-at")]


@pytest.mark.browser
@pytest.mark.parametrize(
    "arguments, clicked, frames",
    [
        ({"sets": "query"}, 3, [["3"], ["2"]]),
        ({"sets": "key"}, 3, [["6"], ["3"]]),
        ({"sets": "query", "written": 5}, 3, [["6"], ["3"]]),
        ({"sets": "key", "written": 5}, 7, [["7"], ["2"]]),
    ],
)
def test_a_click_moves_the_frame_of_what_it_sets_before_the_page_answers(mount, arguments, clicked, frames):
    page = mount(SOURCE, strip([f"·w{i}" for i in range(9)], selected=6, looked_at=2, **arguments))
    assert framed(page) == [["6"], ["2"]]
    chip(page, clicked).click()
    assert framed(page) == frames
    assert calls(page, "token") == [clicked]


@pytest.mark.browser
def test_a_chip_of_several_tokens_lists_them_and_selects_its_last(mount):
    page = mount(SOURCE, strip())
    fox = chip(page, 5)
    assert fox.locator(".place").inner_text() == "5–7"
    assert fox.locator(".count").inner_text() == "3"
    for part in FOX:
        assert part in fox.get_attribute("title")
    fox.click()
    assert calls(page, "token") == [7]


@pytest.mark.browser
@pytest.mark.parametrize("token", [5, 6, 7])
def test_any_token_of_a_chip_selects_the_chip(mount, token):
    page = mount(SOURCE, strip(selected=token))
    assert page.locator(".chip.selected .label").all_inner_texts() == ["🦊"]


@pytest.mark.browser
def test_enter_does_not_wait_and_the_last_chip_is_the_last(mount):
    page = mount(SOURCE, strip(selected=1))
    chip(page, 1).focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert calls(page, "token")[:1] == [9]
    page.keyboard.press("ArrowRight")
    assert selected(page) == "9"


@pytest.mark.browser
def test_up_and_down_go_to_the_chip_above_and_below(mount):
    page = mount(SOURCE, strip([f"·w{i}" for i in range(40)], selected=30), width=390)
    chip(page, 30).focus()
    box = chip(page, 30).bounding_box()
    page.keyboard.press("ArrowUp")
    above = page.locator(".chip.selected").bounding_box()
    assert above["y"] < box["y"]
    assert abs(above["x"] - box["x"]) < box["width"]
    page.keyboard.press("ArrowDown")
    assert selected(page) == "30"


@pytest.mark.browser
def test_escape_clears(mount):
    page = mount(SOURCE, strip(selected=3))
    chip(page, 3).focus()
    page.keyboard.press("Escape")
    assert calls(page, "token") == [None]
    assert selected(page) == ""
    assert page.locator(".chip.selected").count() == 0


@pytest.mark.browser
def test_one_tab_reaches_the_strip_and_the_next_leaves_it(mount):
    page = mount(SOURCE, strip(selected=3))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.shadowRoot.activeElement.dataset.chip") == "3"
    outline = chip(page, 3).evaluate("node => getComputedStyle(node).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.shadowRoot === null || document.activeElement === document.body")


@pytest.mark.browser
def test_tokens_that_look_like_html_are_shown_and_do_not_run(mount):
    evil = ["<script>window.ran = 1</script>", "<img src=x onerror='window.ran = 1'>", "&amp;", "שלום", "注意力"]
    page = mount(SOURCE, strip(evil, values=evil))
    assert page.locator(".token-strip .label").all_inner_texts() == evil
    assert page.locator(".token-strip :is(script, img)").count() == 0
    assert page.evaluate("window.ran") is None


@pytest.mark.browser
@pytest.mark.parametrize("theme, dark", [(shim.LIGHT, False), (shim.DARK, True)])
def test_the_metric_tints_within_the_palette_and_nan_stays_plain(mount, theme, dark):
    metric = np.full(8, np.nan, dtype=np.float32)
    metric[1:3] = [0.0, 1.0]
    page = mount(SOURCE, strip(metric=metric, values=["", "entropy 0", "entropy 2", "", "", "", "", ""]), theme=theme)
    background = "node => getComputedStyle(node).backgroundColor.match(/\\d+/g).map(Number)"
    zero, one, plain = (np.array(chip(page, i).evaluate(background)[:3]) for i in (1, 2, 3))
    assert zero.tolist() == sequential(0.0, dark=dark)[:3].tolist()
    ramp = sequential(np.linspace(0, 1, 512), dark=dark)[:, :3].astype(int)
    assert np.abs(ramp - one).max(axis=1).min() <= 2  # some colour of the ramp, and not its beginning
    assert np.abs(zero - one).max() > 40
    assert "entropy 2" in chip(page, 2).get_attribute("title")
    assert plain.tolist() == [int(theme["--st-background-color"][i : i + 2], 16) for i in (1, 3, 5)]


@pytest.mark.browser
def test_special_looked_at_and_selected_are_marked(mount):
    page = mount(SOURCE, strip(selected=4, looked_at=8))
    marked = {
        name: page.locator(f".chip.{name} .place").all_inner_texts() for name in ("special", "selected", "looked-at")
    }
    assert marked == {"special": ["0"], "selected": ["4"], "looked-at": ["8"]}
    assert chip(page, 0).evaluate("node => getComputedStyle(node).borderTopStyle") == "dashed"
    assert page.locator('[role=option][aria-selected="true"]').count() == 1


@pytest.mark.browser
def test_below_the_chips_stands_what_their_shade_and_their_frames_mean(mount):
    tinted, texts = np.full(8, 0.5, dtype=np.float32), TEXTS | {"shade": "Shade: how much"}
    page = mount(SOURCE, strip(metric=tinted, selected=8, looked_at=4, texts=texts))
    note = page.locator(".token-strip .note")
    assert note.inner_text() == "Shade: how much · blue frame: looks · red: is looked at · “·”: a space"
    answer(page, strip(["␣", "x"], metric=np.zeros(2, np.float32), selected=1, texts=texts))
    assert note.inner_text() == "Shade: how much · blue frame: looks · “␣”: a space that is a token"
    answer(page, strip(metric=tinted, selected=8, looked_at=4, texts=texts))
    chip(page, 6).press("Escape")
    assert note.inner_text() == "Shade: how much · red: is looked at · “·”: a space"


@pytest.mark.browser
def test_with_rows_the_tint_is_that_of_the_chosen_token_at_once_and_of_one_pointed_at_elsewhere(mount):
    rows = np.tril(np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8))
    rows[np.triu_indices(8, 1)] = np.nan
    texts = TEXTS | {"shade": "Row of ⏎", "row": "Row of {token}"}
    page = mount(SOURCE, strip(metric=rows[7], values=["as the page says"] * 8, selected=9, texts=texts, rows=rows))

    def shown():
        note = page.locator(".token-strip .note").inner_text().split(" · ")[0]
        return note, [chip(page, i).get_attribute("title").split(" · ")[-1] for i in (1, 2)]

    assert shown() == ("Row of ⏎", ["as the page says"] * 2)
    point = "detail => dispatchEvent(new CustomEvent('atlas-row', { detail }))"
    page.evaluate(point, {"row": 2, "of": 10})  # of ten tokens, which are eight chips
    assert shown() == ("Row of \u2068·dog\u2069", ["27 %", "29 %"])
    assert page.locator(".chip.pointed .place").all_inner_texts() == ["2"]
    page.evaluate(point, {"row": 1, "of": 5})  # of another picture's rows
    assert shown()[0] == "Row of ⏎"
    page.evaluate(point, {"token": 1, "row": None})
    assert shown() == ("Row of \u2068The\u2069", ["14 %", "masked"])
    page.evaluate(point, {"row": None})
    assert shown()[0] == "Row of ⏎"
    chip(page, 3).click()
    assert shown() == ("Row of \u2068·and\u2069", ["40 %", "41 %"])
    chip(page, 3).press("ArrowLeft")
    assert shown()[0] == "Row of \u2068·dog\u2069"
    chip(page, 2).press("Escape")
    assert shown()[0] == ""


@pytest.mark.browser
def test_with_shift_the_key_is_chosen_where_both_can_be(mount):
    page = mount(SOURCE, strip(selected=8, both=True))
    assert "Shift + click" in page.locator(".token-strip .note").inner_text()
    chip(page, 2).click(modifiers=["Shift"])
    assert framed(page) == [["8"], ["2"]]
    chip(page, 3).focus()
    page.keyboard.press("Shift+Enter")
    assert framed(page) == [["8"], ["3"]]
    assert (calls(page, "key"), calls(page, "token")) == ([2, 3], [])
    answer(page, strip(selected=8, looked_at=3))
    chip(page, 4).click(modifiers=["Shift"])
    assert calls(page, "token") == [4]


def test_rows_of_another_size_are_refused():
    with pytest.raises(ValueError, match=r"rows of shape \(3, 8\)"):
        strip(rows=np.zeros((3, 8), np.float32))


@pytest.mark.browser
def test_chips_without_colours_have_no_line_below_them(mount):
    assert not mount(SOURCE, strip(texts=TEXTS | {"shade": "Shade: how much"})).locator(".note").is_visible()


@pytest.mark.browser
def test_a_long_text_takes_three_lines_and_shows_the_selected_chip(mount):
    page = mount(SOURCE, strip([f"·word{i}" for i in range(400)], selected=350), width=390)
    assert seen_whole(page, 350)
    height = page.locator(".chips").bounding_box()["height"]
    chip_height = chip(page, 350).bounding_box()["height"]
    assert 3 * chip_height <= height < 3.5 * chip_height
    assert page.evaluate("scrollY") == 0


@pytest.mark.long
@pytest.mark.browser
def test_a_very_long_text_is_drawn_as_a_window_that_can_be_turned(mount):
    page = mount(SOURCE, strip([f"w{i}" for i in range(5000)], selected=2500))
    assert page.locator(".chip").count() == 1500
    assert seen_whole(page, 2500)
    assert page.locator(".more").all_inner_texts() == ["1750 earlier", "1750 later"]
    page.locator('.more[data-side="later"]').click()
    assert page.locator(".more").all_inner_texts() == ["2500 earlier", "1000 later"]
    page.locator('.more[data-side="later"]').click()  # the selected chip leaves the window
    assert page.locator(".more").all_inner_texts() == ["3250 earlier", "250 later"]
    assert selected(page) == "2500"
    answer(page, strip([f"w{i}" for i in range(5000)], selected=0))
    assert page.locator(".more").all_inner_texts() == ["3500 later"]


@pytest.mark.browser
def test_a_rerun_restyles_the_chips_without_making_them_anew(mount):
    page = mount(SOURCE, strip(selected=2))
    chip(page, 2).evaluate("node => { node.kept = true }")
    answer(page, strip(selected=4, looked_at=2))
    assert chip(page, 2).evaluate("node => node.kept")
    assert selected(page) == "4"
    answer(page, strip(["a", "b"], selected=1))
    assert page.locator(".token-strip .label").all_inner_texts() == ["a", "b"]


@pytest.mark.browser
def test_of_two_texts_each_stands_on_lines_of_its_own(mount):
    page = mount(SOURCE, strip(written=4))
    at = [chip(page, index).bounding_box() for index in range(len(WORDS))]
    assert {box["y"] for box in at[:4]} == {at[0]["y"]}
    assert {box["y"] for box in at[4:]} == {at[4]["y"]}
    assert at[4]["y"] > at[0]["y"]
    assert at[4]["x"] == at[0]["x"]
    assert page.locator(".side").all_inner_texts() == ["read", "written"]
    chip(page, 1).focus()
    page.keyboard.press("ArrowDown")
    assert selected(page) == "7"  # the fox, below it
    page.evaluate("data => window.send('token_strip', data)", shim.encoded(strip()))
    page.locator(".side").first.wait_for(state="detached")
    assert chip(page, 4).bounding_box()["y"] == chip(page, 0).bounding_box()["y"]


@pytest.mark.browser
def test_a_metric_is_a_bar_under_its_chip_and_leaves_the_tint_to_the_row(mount):
    lengths = np.array([0.5, np.nan, *np.zeros(len(WORDS) - 2)], dtype=np.float32)
    words = ["half", "", *["none"] * (len(WORDS) - 2)]
    plain = mount(SOURCE, strip())
    tints = plain.locator(".chip").evaluate_all("nodes => nodes.map((node) => getComputedStyle(node).backgroundColor)")
    page = mount(SOURCE, strip(metric_bars=MetricBars(lengths, words, "bar: <b>half")))
    chips = page.locator(".chip")
    assert chips.evaluate_all("nodes => nodes.map((node) => getComputedStyle(node).backgroundColor)") == tints
    widths = chips.evaluate_all("nodes => nodes.map((node) => getComputedStyle(node, '::after').width)")
    box = chips.first.bounding_box()
    assert float(widths[0].removesuffix("px")) == pytest.approx((box["width"] - 2) / 2, abs=0.6)
    assert widths[1] == "auto"  # none
    assert "half" in chips.first.get_attribute("title")
    assert "bar: <b>half" in page.locator(".note").inner_text()
