"""The way of the keyboard over each page, as docs/keyboard.md has it; where it is can be seen at every stop."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pages.entries import ENTRIES, Entry
from tests.pages.test_browser_axe import VIEWS, open_view
from tests.pages.visiting import PATIENCE, text_box, wait_for_rest

DOC = Path(__file__).resolve().parents[2] / "docs" / "keyboard.md"
MOST = 130  # stops of a page

# A box that one types in has a border of the primary colour while it has the keyboard, all else a frame.
FOCUSED = """(primary) => {
  let node = document.activeElement
  while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  const around = [node, node.closest("[data-testid=stCheckbox] label"), node.closest(".scroller"),
    node.closest("[data-testid=stSlider]"), node.parentElement]
  const seen = around.filter(Boolean).map((one) => getComputedStyle(one)).some((style) =>
    (style.outlineStyle === "solid" && parseFloat(style.outlineWidth) >= 2) ||
    (node.matches("input, textarea") && style.borderTopStyle === "solid" && style.borderTopColor === primary))
  return [node.getAttribute("role") ?? node.tagName.toLowerCase(), node.ariaLabel ?? node.textContent.trim(), seen]
}"""
PRIMARY = {"light": "rgb(56, 56, 143)", "dark": "rgb(134, 136, 232)"}


def written(entry: Entry) -> list[str]:
    """The stops below the page's head, as its row of the document has them."""
    rows = (line for line in DOC.read_text("utf-8").splitlines() if line.startswith(f"| {entry.name} |"))
    return re.findall("`([^`]+)`", next(rows))


def stop(kind: str, name: str) -> str:
    """A stop without what depends on the text: "combobox metric", or only "button"."""
    plain = re.sub(r"\s+", " ", re.sub("expand_more|[\u2068\u2069]", "", name))
    words = re.split(r"[0-9·:,(“…]| · ", plain)[0].strip()[:28].strip()
    if "→" in plain:
        return kind  # a look from one token at another
    return f"{kind} {words}" if kind != "div" and len(re.findall(r"\w", words)) > 1 else kind  # a div only scrolls


def walked(page: Page, scheme: str) -> list[tuple[str, str, bool]]:
    """Every stop of Tab from the text on, with whether it is framed."""
    text_box(page).focus()
    seen: list[tuple[str, str, bool]] = []
    while True:
        page.keyboard.press("Tab")
        found: Any = tuple(page.evaluate(FOCUSED, PRIMARY[scheme]))
        if found[0] == "body" or found[1] == "Skip to main content":
            return seen
        seen.append(found)
        assert len(seen) < MOST


def test_every_page_has_its_row():
    assert all(written(entry) for entry in ENTRIES)


@pytest.mark.long
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.address or "heads")
def test_the_way_over_a_page_is_the_one_written_down_and_can_be_seen_all_along(new_page, server, entry):
    scheme = "dark"  # where a frame is harder to see
    page = new_page(color_scheme=scheme)
    address, painted = next(iter(VIEWS[entry.address].items()))
    open_view(page, f"{server.url}/{entry.address}?{address}", painted)
    seen = walked(page, scheme)
    assert sum(kind == "a" for kind, _name, _framed in seen) >= len(ENTRIES)
    head = next(number for number, (_kind, name, _framed) in enumerate(seen) if name.startswith("Export"))
    below = [stop(kind, name) for kind, name, _framed in seen[head + 1 :]]
    assert [words for words, _same in groupby(below)] == written(entry)
    assert [(kind, name) for kind, name, framed in seen if not framed] == []


def test_a_menu_that_opens_takes_the_keyboard_and_gives_it_back(page, server):
    open_view(page, f"{server.url}/?layer=6&head=5", ".token-lines")
    for name in ("As tables", "Export"):
        button = page.get_by_role("button", name=name)
        button.focus()
        page.keyboard.press("Enter")
        menu = page.get_by_role("dialog", name=name)
        expect(menu).to_be_focused(timeout=PATIENCE)
        wait_for_rest(page)
        if name == "Export":
            expect(menu.get_by_role("button", name="NPZ", exact=True)).to_be_visible(timeout=PATIENCE)
            page.keyboard.press("Tab")
            inside = "() => Boolean(document.activeElement.closest('[data-testid=stPopoverBody]'))"
            assert page.evaluate(inside)
        page.keyboard.press("Escape")
        expect(menu).to_have_count(0, timeout=PATIENCE)
        expect(button).to_be_focused(timeout=PATIENCE)
