"""The model as a strip: the payload, and in a browser what is drawn, picked and said, on a wide and a narrow page."""

from __future__ import annotations

import pytest

from tests.viz.components import shim
from tests.viz.components.clock import wait
from tests.viz.components.mounted import calls, facts
from tests.viz.components.test_packing import unpacked
from viz.components.model_strip.model_strip import SOURCE, TEXTS, LayerKind, LayerRow, ModelStripPicture

LINKS = ("embedding", "logits", "next")
WIDE = "section{max-width:1060px}"


def row(count=8, heads=8, size=2, **more):
    made = {
        "attentions": ("",), "before": ("text", "embedding"), "after": ("logits", "next"),
        "kinds": (LayerKind(((heads, size),), 0),), "layers": (0,) * count,
    }  # fmt: skip
    return LayerRow(**(made | more))


def strip(rows=None, place=(6, 4, ""), lit=("head",), picks="here", changed=(), **more):
    return ModelStripPicture(
        rows=(row(),) if rows is None else rows, open=place, lit=lit, picks=picks, links=LINKS, changed=changed,
        texts=TEXTS, **more,
    ).packed()  # fmt: skip


HYBRID = row(kinds=(LayerKind(((8, 2),), 0), LayerKind((None,), 4)), layers=(1, 1, 1, 0) * 2)
TWO_STACKS = (
    row(4, 4, 1, attentions=("encoder",), after=(), kinds=(LayerKind(((4, 1),), 0),)),
    row(4, 4, 1, attentions=("decoder", "cross"), before=("written", "embedding"),
        kinds=(LayerKind(((4, 1), (4, 1)), 0),)),
)  # fmt: skip


def test_eighty_layers_of_two_kinds_are_a_small_payload():
    kinds = (LayerKind(((64, 8),), 128), LayerKind((None,), 0))
    data = strip((row(kinds=kinds, layers=(0, 1) * 40),), place=(40, 63, ""))
    meta, arrays = unpacked(data)
    assert (len(meta["rows"][0]["layers"]), arrays) == (80, {})
    assert len(data) < 3000


@pytest.mark.parametrize("wrong", [{"lit": ("feet",)}, {"picks": "there"}])
def test_what_no_strip_has_is_refused(wrong):
    with pytest.raises(ValueError, match="a strip has no"):
        strip(**wrong)


def head_at(page, layer, head, heads=8, line=0):
    """The middle of a head's tick, as the picture has it."""
    ticks = page.locator(f"[data-layer='{layer}'] path.heads").nth(line).bounding_box()
    return ticks["x"] + ticks["width"] * (head + 0.5) / heads, ticks["y"] + ticks["height"] / 2


@pytest.mark.browser
def test_a_click_picks_a_head_and_arrows_its_neighbours(mount):
    page = mount(SOURCE, strip(), style=WIDE)
    assert facts(page)["place"] == "6,4"
    assert page.locator(".name").inner_text() == "L6H4 · kv 2"
    page.mouse.click(*head_at(page, 2, 5))
    assert (facts(page)["place"], page.locator(".name").inner_text()) == ("2,5", "L2H5 · kv 2")
    page.locator("svg").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):  # the last has no head to go to
        page.keyboard.press(key)
    wait(page, 200)
    assert facts(page)["place"] == "3,7"
    assert calls(page, "head") == [[2, 5, ""], [3, 7, ""]]  # a held key tells once
    label = page.locator("svg").get_attribute("aria-label")
    assert label.startswith("The model: 8 layers. L3H7 · kv 3 is open.")


@pytest.mark.browser
def test_what_the_page_shows_is_lit_what_an_edit_changes_is_edged_and_parts_are_links(mount):
    page = mount(SOURCE, strip(lit=("logits", "next", "ffn"), changed=[("", 3, 1), ("", 5, -1)]), style=WIDE)
    lit = page.locator(".part.lit")
    assert [one.get_attribute("data-part") for one in lit.all()] == ["logits", "next"]
    assert page.locator(".ffn.lit").count() == 1
    assert page.locator(".layer.changed").get_attribute("data-layer") == "5"
    assert page.locator("[data-layer='3'] .tick.changed").count() == 1
    page.mouse.move(*head_at(page, 3, 1))
    assert page.locator(".name").inner_text() == "L3H1 · kv 0, changed"
    page.get_by_role("button", name="embedding: open its page").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert calls(page) == [["part", "embedding"], ["part", "logits"]]


@pytest.mark.browser
def test_a_layer_without_attention_is_passed_over_unless_layers_are_picked(mount):
    page = mount(SOURCE, strip((HYBRID,), place=(3, 0, "")), style=WIDE)
    assert page.locator(".layer.no-heads").count() == 6
    page.locator("svg").focus()
    page.keyboard.press("ArrowDown")
    wait(page, 200)
    page.mouse.click(*page.locator("[data-layer='5'] .box").evaluate("b => [b.getBoundingClientRect().x + 20, 20]"))
    assert calls(page, "head") == [[7, 0, ""]]
    page = mount(SOURCE, strip((HYBRID,), place=(3, 0, ""), picks="layers"), style=WIDE)
    page.locator("svg").focus()
    page.keyboard.press("ArrowDown")
    wait(page, 200)
    assert calls(page, "head") == [[4, 0, ""]]
    assert page.locator(".name").inner_text() == "L4"


@pytest.mark.browser
def test_of_two_stacks_each_attention_has_its_line(mount):
    page = mount(SOURCE, strip(TWO_STACKS, place=(3, 1, "cross")), style=WIDE)
    assert page.locator("path.cross").count() == 1
    parts = ["text", "embedding", "written so far", "embedding", "logits", "next token"]
    assert page.locator("g.part").all_text_contents() == parts
    page.mouse.click(*head_at(page, 2, 3, heads=4))  # the first is the encoder's
    page.mouse.click(*head_at(page, 1, 0, heads=4, line=1))
    page.mouse.click(*head_at(page, 1, 2, heads=4, line=2))
    assert calls(page, "head") == [[2, 3, "encoder"], [1, 0, "decoder"], [1, 2, "cross"]]


@pytest.mark.browser
@pytest.mark.parametrize("width, height", [(1100, 46), (390, 28)])
def test_a_strip_of_two_rows_is_as_high_as_one_of_one_row(mount, width, height):
    for rows, place in (((row(),), (6, 4, "")), (TWO_STACKS, (3, 1, "cross"))):
        page = mount(SOURCE, strip(rows, place=place, lit=("loop",)), width=width, height=800)
        assert page.locator(".model-strip .row").bounding_box()["height"] == height


@pytest.mark.browser
def test_of_eighty_layers_the_open_one_is_wide_and_every_other_can_be_hit(mount):
    page = mount(SOURCE, strip((row(80, 64, 8),), place=(40, 3, "")), style=WIDE)
    assert page.locator(".layer:not(.hair)").get_attribute("data-layer") == "40"
    at = page.locator("[data-layer='77'] .heads").bounding_box()
    page.mouse.click(at["x"] + at["width"] / 2, at["y"] + 2)
    assert calls(page, "head") == [[77, 3, ""]]
    assert page.locator(".layer:not(.hair)").get_attribute("data-layer") == "77"
    page.mouse.click(*head_at(page, 77, 63, heads=64))
    assert calls(page, "head")[-1] == [77, 63, ""]


@pytest.mark.browser
def test_on_a_phone_it_is_a_line_that_opens(mount):
    page = mount(SOURCE, strip((row(80, 64, 8),), place=(40, 3, "")), width=390, height=844)
    assert page.locator(".model-strip").bounding_box()["height"] < 34
    line = page.get_by_role("button", name="L40H3 · kv 0: choose a layer and a head")
    line.click()
    layers, heads = page.get_by_role("radiogroup", name="Layer"), page.get_by_role("radiogroup", name="Head")
    assert (layers.get_by_role("radio").count(), heads.get_by_role("radio").count()) == (80, 64)
    layers.get_by_role("radio", name="L71", exact=True).click()
    heads.get_by_role("radio", name="H9 · kv 1", exact=True).press("ArrowRight")
    assert calls(page, "head") == [[71, 3, ""], [71, 4, ""]]
    assert min(box.bounding_box()["height"] for box in heads.get_by_role("radio").all()[:3]) >= 34
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Escape")
    assert page.get_by_role("radio").count() == 0


@pytest.mark.browser
def test_where_heads_open_elsewhere_arrows_only_look_and_enter_opens(mount):
    page = mount(SOURCE, strip(picks="heads"), style=WIDE)
    page.locator("svg").focus()
    page.keyboard.press("ArrowUp")
    wait(page, 300)
    assert (calls(page), facts(page)["place"]) == ([], "5,4")
    page.keyboard.press("Enter")
    assert calls(page) == [["head", [5, 4, ""]]]


@pytest.mark.browser
@pytest.mark.parametrize("theme", [shim.LIGHT, shim.DARK])
def test_it_takes_the_theme(mount, theme):
    page = mount(SOURCE, strip(), theme=theme)
    assert facts(page)["theme"] == ("light" if theme is shim.LIGHT else "dark")
