"""A short random walk in each language; ``make walk`` takes longer ones. See tests/walk."""

from __future__ import annotations

import pytest

from tests.walk.invariants import heads
from tests.walk.steps import controls
from tests.walk.walk import SCRIPT, Walk

SEED, STEPS = 6, 4


@pytest.mark.long
@pytest.mark.parametrize("language, size", [("en", "desk"), ("en", "phone"), ("zh", "desk"), ("zh", "phone")])
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


def test_the_open_head_of_the_strip_is_held_to_the_address():
    place = {"layer": "6", "head": "4"}
    assert heads({"heads": [], "strip": ["6,4"]}, place, "") == []
    assert heads({"heads": [], "strip": []}, {}, "") == []
    assert heads({"heads": [], "strip": ["6,5"]}, place, "") == ["the strip says (6, 5), the address (6, 4)"]
