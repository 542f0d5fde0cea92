"""What only a run of the page draws is not chosen where a figure is followed: no mark beside others' numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.viz.components.following import PHONE, Room
from tests.viz.components.test_family_masks import kinds
from tests.viz.components.test_film import film
from tests.viz.components.test_head_bars import bars
from tests.viz.components.test_head_grid import grid
from tests.viz.components.test_head_groups import groups
from tests.viz.components.test_head_map import head_map as one_map
from tests.viz.components.test_mask_gallery import gallery
from tests.viz.components.test_model_stages import stages
from tests.viz.components.test_token_lines import lines
from tests.viz.components.test_token_strip import strip
from tests.viz.components.test_token_tree_browser import small
from viz.components.family_masks import family_masks
from viz.components.film import film as films
from viz.components.head_bars import head_bars
from viz.components.head_grid import head_grid
from viz.components.head_groups import head_groups
from viz.components.head_map import head_map
from viz.components.mask_gallery import mask_gallery
from viz.components.model_stages import model_stages
from viz.components.source import Source
from viz.components.token_lines import token_lines
from viz.components.token_strip import token_strip
from viz.components.token_tree import token_tree

pytestmark = pytest.mark.browser


def of_two() -> bytes:
    return groups(head=3, own=2, pooled=2, possible=(2, 1))


@pytest.mark.parametrize(
    "source, data, choices",
    [
        (head_groups.SOURCE, of_two, ".ways [data-kv='1']"),
        (mask_gallery.SOURCE, gallery, ".patterns button"),
        (family_masks.SOURCE, kinds, ".kinds button"),
        (token_strip.SOURCE, strip, ".chip"),
        (head_bars.SOURCE, bars, ".head-bars button"),
        (films.SOURCE, film, ".candidate:visible"),
        (model_stages.SOURCE, stages, "button.row"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)  # fmt: skip  # a component
def test_a_choice_of_the_pages_is_nothing_to_press_where_it_is_followed(
    sheet: Any, source: Source, data: Callable[[], bytes], choices: str
):
    room = Room(sheet, source, data())
    before = room.look(PHONE)
    theirs, own = room.phone.locator(choices), room.teacher.locator(choices)
    assert own.count() == theirs.count() > 0
    assert any(own.nth(i).is_enabled() for i in range(own.count()))
    for i in range(theirs.count()):
        expect(theirs.nth(i)).to_be_disabled()
        theirs.nth(i).click(force=True, position={"x": 4, "y": 4})
    room.page.mouse.move(2, 2)
    assert room.look(PHONE) == before
    assert room.said == []
    for invites in (".tools", ".hint", ".of-heads span + span"):
        for there in room.phone.locator(f"{invites}:visible").all():
            expect(there).to_be_empty()


@pytest.mark.parametrize(
    "source, data, at, mark",
    [
        (head_groups.SOURCE, of_two, "[data-head='1'] .q", "head"),
        (head_grid.SOURCE, grid, "canvas", "selected"),
        (head_map.SOURCE, one_map, "canvas", "selected"),
        (mask_gallery.SOURCE, gallery, ".large > canvas", "query"),
        (token_lines.SOURCE, lines, "[data-side=query][data-row='3']", "pinned"),
        (token_tree.SOURCE, small, ".chip[data-id='1.4.6']", "opened"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)  # fmt: skip  # a component
def test_a_tap_looks_closer_and_leaves_the_mark_where_it_was(
    sheet: Any, source: Source, data: Callable[[], bytes], at: str, mark: str
):
    room = Room(sheet, source, data())
    figure = room.phone.locator("[data-painted], [data-theme]").first
    before, marked = room.look(PHONE), figure.get_attribute(f"data-{mark}")
    tap(room.phone.locator(at).first)
    assert figure.get_attribute(f"data-{mark}") == marked
    assert room.look(PHONE) != before  # its number, say
    assert room.said == []


def tap(target: Locator) -> None:
    """What a finger does: it is never above an element without touching it."""
    target.evaluate(
        """(node) => {
            const { left, top, width, height } = node.getBoundingClientRect()
            const at = { clientX: left + width * 0.55, clientY: top + height * 0.5 }
            const init = { ...at, bubbles: true, composed: true, pointerType: "touch", pointerId: 9 }
            for (const name of ["pointerover", "pointerdown", "pointerup", "pointerleave", "click"]) {
                node.dispatchEvent(new PointerEvent(name, init))
            }
        }"""
    )
