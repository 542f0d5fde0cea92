"""Which heads share keys and values: the payload and, in a browser, highlights, clicks and sentences."""

from __future__ import annotations

import pytest

from tests.viz.components import shim
from tests.viz.components.mounted import calls
from tests.viz.components.test_packing import unpacked
from viz.color import palette
from viz.components.head_groups.head_groups import SOURCE, TEXTS, HeadGrouping, HeadGroupsPicture

NAMES = {8: "MHA", 1: "MQA"}


def groups(n_heads=8, own=4, pooled=2, head=5, possible=(4, 2, 1), counts=(8, 4, 2, 1)):
    ways = [HeadGrouping(count, NAMES.get(count, "GQA"), f"{count} KB") for count in counts]
    return HeadGroupsPicture(
        n_heads=n_heads, own=own, pooled=pooled, layer=3, head=head, ways=ways, possible=possible, texts=TEXTS
    ).packed()  # fmt: skip


def test_the_payload_names_every_way_and_those_that_can_be_chosen():
    meta, arrays = unpacked(groups())
    assert [way["kv_heads"] for way in meta["ways"]] == [8, 4, 2, 1]
    assert meta["possible"] == [4, 2, 1]
    assert (meta["own"], meta["pooled"], meta["head"]) == (4, 2, 5)
    assert arrays == {}


@pytest.mark.parametrize("changes", [{"own": 3}, {"pooled": 3}, {"counts": (8, 3)}])
def test_heads_that_cannot_be_shared_out_evenly_are_refused(changes):
    with pytest.raises(ValueError, match="8 query heads"):
        groups(**changes)


def lit(page, figure, kind):
    """What is lit in a figure: query heads, or key/value heads of a row, by number."""
    nodes = page.locator("figure").nth(figure).locator(f"g.lit[data-{kind}]")
    return [int(node.get_attribute(f"data-{kind}")) for node in nodes.all()]


def readouts(page):
    return page.locator(".readout").all_text_contents()


@pytest.mark.browser
def test_the_group_of_the_open_head_is_lit_in_both_figures(mount):
    page = mount(SOURCE, groups())
    assert lit(page, 0, "head") == [4, 5]
    assert lit(page, 0, "kv") == [2]
    assert lit(page, 1, "head") == [4, 5, 6, 7]
    assert lit(page, 1, "kv") == [1, 2, 3]  # the second mean, of the last two
    assert readouts(page) == ["H4–H5 read key/value head 2.", "H4–H7 read the mean of key/value heads 2–3."]
    assert [node.get_attribute("data-head") for node in page.locator("g.open").all()] == ["5", "5"]
    label = page.locator("figure svg").first.get_attribute("aria-label") or ""
    assert label.startswith(
        "as it is: 8 query heads read 4 key/value heads. L3H5 is open. H4–H5 read key/value head 2."
    )


@pytest.mark.browser
def test_every_head_alone_and_one_for_all_are_said_too(mount):
    page = mount(SOURCE, groups(own=8, pooled=1, possible=(8, 4, 2, 1)))
    assert readouts(page) == ["Only H5 reads key/value head 5.", "H0–H7 read the mean of key/value heads 0–7."]
    assert lit(page, 0, "head") == [5]


@pytest.mark.browser
def test_a_key_value_head_stands_for_its_group(mount):
    page = mount(SOURCE, groups())
    page.locator("figure").nth(0).locator("[data-kv='2'] .hit").click()
    page.locator("figure").nth(0).locator("[data-kv='3'] .hit").click()
    assert calls(page) == [["head", 5], ["head", 6]]
    assert lit(page, 0, "head") == [6, 7]


@pytest.mark.browser
def test_hovering_lights_another_group_and_leaving_brings_the_open_one_back(mount):
    page = mount(SOURCE, groups())
    page.locator("figure").nth(0).locator("[data-head='0'] .q").hover()
    assert lit(page, 0, "head") == [0, 1]
    assert lit(page, 1, "head") == [0, 1, 2, 3]
    page.mouse.move(1300, 800)
    assert lit(page, 0, "head") == [4, 5]
    assert calls(page) == []


@pytest.mark.browser
def test_a_way_is_chosen_by_click_and_by_arrows_and_more_heads_than_the_model_has_cannot_be(mount):
    page = mount(SOURCE, groups())
    buttons = page.locator(".ways button")
    assert [buttons.nth(i).is_disabled() for i in range(4)] == [True, False, False, False]
    assert buttons.nth(0).locator("span").text_content() == "the model has only 4 · 8 KB"  # seen, not hovered
    assert "only 4 key/value heads" in (buttons.nth(0).get_attribute("title") or "")
    buttons.nth(3).click()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # beyond: the way above cannot be made
    assert calls(page) == [["kv_heads", count] for count in (1, 2, 4)]
    assert page.locator(".ways [aria-checked='true']").get_attribute("data-kv") == "4"
    assert readouts(page)[1] == "H4–H5 read key/value head 2."


@pytest.mark.browser
@pytest.mark.parametrize("theme, side", [(shim.LIGHT, "light"), (shim.DARK, "dark")])
def test_queries_are_blue_keys_red_values_green(mount, theme, side):
    page = mount(SOURCE, groups(), theme=theme)
    for name, part in (("query", "q"), ("key", "k"), ("value", "v")):
        fill = page.locator(f"figure .lit .{part}").first.evaluate("node => getComputedStyle(node).fill")
        assert fill == "rgb({}, {}, {})".format(*palette()[name][side])


@pytest.mark.browser
@pytest.mark.parametrize("n_heads, own", [(128, 128), (64, 8), (1, 1)])
def test_any_number_of_heads_fits_a_phone_and_can_be_clicked(mount, n_heads, own):
    counts = [count for count in range(n_heads, 0, -1) if n_heads % count == 0]
    data = groups(n_heads, own, 1, 0, counts=counts, possible=[count for count in counts if count <= own])
    page = mount(SOURCE, data, width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator("figure").nth(0).locator(f"[data-head='{n_heads - 1}'] .q").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert calls(page) == [["head", n_heads - 1]]
