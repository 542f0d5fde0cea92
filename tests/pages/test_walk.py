"""A short random walk in each language; ``make walk`` takes longer ones. See tests/walk."""

from __future__ import annotations

import pytest

from tests.walk.invariants import heads
from tests.walk.steps import controls
from tests.walk.walk import SCRIPT, Walk

SEED, STEPS = 6, 4


LONG = [pytest.param(*one, marks=pytest.mark.long) for one in (("en", "desk"), ("en", "phone"), ("zh", "desk"))]


@pytest.mark.parametrize("language, size", [*LONG, ("zh", "phone")])
def test_a_walk_meets_nothing_that_does_not_hold(profile, browser, server, language, size):
    Walk(profile, browser.new_context(), server, SEED, language, size).run(STEPS)


def test_a_sidebar_that_was_collapsed_can_be_opened_again(page, server):
    page.add_init_script(path=SCRIPT)
    page.goto(server.url)
    page.wait_for_function("window.walk?.atRest()")
    page.locator("[data-testid=stSidebarHeader]").hover()
    page.locator("[data-testid=stSidebarCollapseButton] button").click()
    page.locator("[data-testid=stSidebar][data-collapsed=true]").wait_for(state="attached")
    page.wait_for_function("walk.atRest()")
    for name in ("Read this picture", "As tables", "Export"):  # the bar that holds its button lies over them
        page.get_by_role("button", name=name).click(trial=True)
    (opens,) = [one for one in controls(page) if "keyboard_double_arrow_right" in one.option]
    spot = page.evaluate("([index, across, down]) => walk.reach(index, across, down)", [opens.index, 0.5, 0.5])
    page.mouse.click(spot["x"], spot["y"])
    page.locator("[data-testid=stSidebar][data-collapsed=false]").wait_for()


def test_menus_of_the_open_head_are_held_to_the_address_and_a_pages_own_layer_is_not():
    place = {"layer": "6", "head": "4"}
    own = [["block-expert_layer", "L0"], ["block-layer", "L1"], ["steps-head", "head 0"], ["families-head", "L0H2"]]
    assert heads({"heads": [], "selects": [*own, ["place_layer", "L6"], ["place_head", "H4 · kv 2"]]}, place) == []
    assert heads({"heads": [], "selects": [["place_head", "H5 · kv 2"]]}, place) == [
        "the menu head says 5, the address {'layer': 6, 'head': 4}"
    ]
