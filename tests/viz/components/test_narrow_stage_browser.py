"""What the class's page is on a phone: a long text makes room for the pictures, and nothing is cut off at its edge."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from classroom.student_page import FOLDER
from classroom.student_page import sheet as style_sheet
from tests.viz.components.following import PHONE, Room
from tests.viz.components.test_family_masks import kinds
from tests.viz.components.test_head_groups import groups
from tests.viz.components.test_mask_gallery import gallery
from tests.viz.components.test_model_stages import stages
from viz.components.family_masks import family_masks
from viz.components.head_groups import head_groups
from viz.components.mask_gallery import mask_gallery
from viz.components.model_stages import model_stages
from viz.components.source import Source, one_module
from viz.components.still import still

pytestmark = pytest.mark.browser

_NARROW = "section[data-who=phone]{width:358px}"
_STAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><style>{css}</style><body><main></main>
<script type="module">{script}
const stage = window.stage = createStage("")
document.querySelector("main").append(stage.box)
window.show = (text) => showStage(stage, {{ title: "Long", text, figures: [] }}, "")
Object.assign(window, {{ showStage, ready: true }})
</script></html>"""


def test_a_long_text_is_three_lines_until_it_is_opened_and_stays_open_while_it_is_the_same(sheet: Any):
    sheet.set_viewport_size({"width": 390, "height": 844})
    sheet.goto("about:blank")
    sheet.set_content(_STAGE.format(css=style_sheet(), script=one_module(FOLDER / "stage.js")))
    sheet.wait_for_function("window.ready")
    text = sheet.locator("section > .text")
    long = "the cat sat on the mat " * 400
    for words in (long, "1\n" * 60, "\N{CJK UNIFIED IDEOGRAPH-732B}" * 900):
        sheet.evaluate("words => window.show(words)", words)
        assert text.text_content() == words
        assert text.bounding_box()["height"] < 90
    sheet.evaluate("words => window.show(words)", long)
    text.locator("summary").click()
    assert text.bounding_box()["height"] > 844
    sheet.evaluate("words => window.show(words)", long)
    expect(text.locator("details")).to_have_attribute("open", "")
    sheet.evaluate("window.show('The king')")
    expect(text.locator("details")).to_have_count(0)
    expect(text).to_have_text("The king")


def test_a_box_that_stays_in_its_place_keeps_what_is_scrolled_in_it(sheet: Any):
    sheet.goto("about:blank")
    sheet.set_content(_STAGE.format(css=style_sheet(), script=one_module(FOLDER / "stage.js")))
    sheet.wait_for_function("window.ready")
    assert sheet.evaluate("""() => {
        for (const key of ["a", "b", "c"]) {
            const box = document.createElement("div")
            box.style.cssText = "width:100px;overflow-x:auto"
            box.innerHTML = "<p style='width:500px'>x</p>"
            stage.figures.append(box)
            box.scrollLeft = 50
            stage.held.set(key, { box, done: Promise.resolve() })
        }
        const shown = (...figures) => showStage(stage, { title: "", figures }, "")
        shown("a", "b", "c")
        const kept = [...stage.figures.children].map((box) => box.scrollLeft)
        shown("c", "a")
        return [kept, [...stage.figures.children].map((box) => [...stage.held].find(([, held]) => held.box === box)[0])]
    }""") == [[50, 50, 50], ["c", "a"]]


def test_no_words_of_the_block_are_cut_off(sheet: Any):
    room = Room(sheet, model_stages.SOURCE, stages())
    sheet.add_style_tag(content="section[data-who=phone]{width:240px}")
    words = room.phone.locator(".row .name b, .row em")
    words.first.evaluate("node => (node.textContent = 'attention: GQA, of four heads and their sharing')")
    room.phone.locator(".rows .size em").first.evaluate("node => (node.textContent = 'tied: the embedding’s')")
    room.look(PHONE)
    cut = words.evaluate_all(
        """all => all.filter((node) => node.clientWidth && node.scrollWidth > node.clientWidth + 1)
            .map((node) => node.textContent)"""
    )
    assert cut == []
    right = [one["x"] + one["width"] for one in (one.bounding_box() for one in words.all()) if one]
    edge = room.phone.locator(".model-stages").bounding_box()
    assert max(right) <= edge["x"] + edge["width"] + 1


def test_a_wide_table_scrolls_in_its_own_box_which_keys_reach(sheet: Any):
    head = "<th>what is lost</th><th class='rank'>rank</th>" * 4
    row = "<td>+0.1234 bits</td><td class='rank'>12</td>" * 4
    body = f"<tbody><tr><th>L3H1</th>{row}</tr></tbody>"
    table = f"<table class='atlas-costs'><thead><tr><th>head</th>{head}</tr></thead>{body}</table>"
    room = Room(
        sheet, still.SOURCE, still.still_picture(f"<p>above</p>{table}<div class='atlas-wide'>{table}</div>").packed()
    )
    sheet.add_style_tag(content=_NARROW)
    room.look(PHONE)
    boxes = room.phone.locator(".atlas-wide")
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        expect(box).to_have_attribute("tabindex", "0")
        last = box.locator("td").last
        box.evaluate("box => (box.scrollLeft = 9999)")
        frame, seen = box.bounding_box(), last.bounding_box()
        assert seen["x"] + seen["width"] <= frame["x"] + frame["width"] + 1
    assert room.phone.locator(".still").evaluate("node => node.scrollWidth - node.clientWidth") == 0


@pytest.mark.parametrize(
    "source, first, second, strip, chosen",
    [
        (
            head_groups.SOURCE, groups(head=1, own=2, pooled=1, possible=(2, 1)),
            groups(head=1, own=2, pooled=1, possible=(2, 1), n_heads=16), ".ways", "[aria-checked=true]",
        ),
        (
            mask_gallery.SOURCE, gallery(selected="window"), gallery(selected="index"), ".patterns",
            "[aria-pressed=true]",
        ),
        (family_masks.SOURCE, kinds(), kinds(selected="prefix"), ".kinds", "[aria-checked=true]"),
    ],
    ids=["ways", "patterns", "kinds"],
)  # fmt: skip
def test_the_chosen_one_is_in_sight_in_a_strip_that_scrolls(
    sheet: Any, source: Source, first: bytes, second: bytes, strip: str, chosen: str
):
    room = Room(sheet, source, first)
    sheet.set_viewport_size({"width": 640, "height": 900})
    sheet.add_style_tag(content="section[data-who=phone]{width:250px;position:absolute;left:0;top:0}")
    for data in (first, second):
        room.send(PHONE, data)
        room.look(PHONE)
        frame = room.phone.locator(strip).bounding_box()
        one = room.phone.locator(f"{strip} {chosen}").bounding_box()
        assert frame["x"] - 1 <= one["x"]
        assert one["x"] + one["width"] <= frame["x"] + frame["width"] + 1
