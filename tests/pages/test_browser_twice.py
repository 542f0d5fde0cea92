"""No part of a page stands there twice while the page is drawn of another model.

Of a block that moved, Streamlit (1.67) draws the new one and, until the run ends, the old one as well. A menu that is
mounted so a second time writes what it showed before over what it shows: the next click took that along.
"""

from __future__ import annotations

import pytest

from tests.pages.visiting import PATIENCE, visit, wait_for_rest
from ui.state.url_values import write

pytestmark = pytest.mark.browser

TWICE = """
window.twice = new Set()
const look = () => {
  const seen = new Set()
  for (const part of document.querySelectorAll('[class*="st-key-"]'))
    for (const name of part.classList)
      if (name.startsWith("st-key-")) seen.has(name) ? window.twice.add(name) : seen.add(name)
}
document.addEventListener("DOMContentLoaded", () =>
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true}))
"""
MODELS = ("Embedded translator", "Embedded small Llama", "Embedded encoder", "Embedded translator")


@pytest.mark.long
@pytest.mark.parametrize(
    "path, more",
    [
        pytest.param("zoo", {}, marks=pytest.mark.long),
        pytest.param("positions", {}, marks=pytest.mark.long),
        ("cell", {"continuation": write((300, 301))}),
    ],
)
def test_while_another_model_comes_nothing_stands_there_twice(page, server, path, more):
    page.add_init_script(TWICE)
    visit(page, server, path, text="The dog chased the cat", **more)
    page.locator(".atlas-badge.ok").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    for model in MODELS:
        page.evaluate("window.twice.clear()")
        box = page.locator(".st-key-model_box input")
        box.click()
        page.get_by_role("option", name=model).click()
        page.wait_for_function("words => document.querySelector('.st-key-model_box input').value === words", arg=model)
        page.locator(".atlas-badge.ok").wait_for(timeout=PATIENCE)
        wait_for_rest(page)
        assert page.evaluate("[...window.twice]") == []
