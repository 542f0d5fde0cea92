"""Run axe in a page: violations of WCAG 2.2 AA and of axe's best practices."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

ROOT = Path(__file__).resolve().parents[1]
AXE = ROOT / "node_modules/axe-core/axe.min.js"
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
MORE = ("label-content-name-mismatch", "p-as-heading", "table-fake-caption", "td-has-header")  # rules with no such tag
# what Streamlit (1.67) writes itself, with why it is no harm: rule → selector
EXCEPTED = {
    # pandas' cell above the names of rows, where nothing is to be named
    "empty-table-header": "[data-testid=stTable] th.blank",
    # the box around is what has the keyboard (code), or the browser itself lets it scroll (Chromium, Firefox)
    "scrollable-region-focusable": "[data-testid=stCode] > pre, [data-testid=stTable] div",
}
RUN = """([tags, more, excepted, part]) => axe.run(part, {
  runOnly: tags, rules: Object.fromEntries(more.map((rule) => [rule, { enabled: true }])), resultTypes: ["violations"],
  elementRef: true,
}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes
  .filter(({ element }) => !(id in excepted && element.matches(excepted[id])))
  .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`)))"""


@pytest.fixture
def axe() -> str:
    """The script of axe. Without it the test is skipped, or with CI=true failed, with the reason."""
    if not AXE.exists():
        reason = "axe-core is not installed; `make test` installs it once npm reaches its registry"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return AXE.read_text(encoding="utf-8")


@pytest.fixture
def axe_if_there(request: pytest.FixtureRequest) -> str:
    """For a test that stands for more: without the script, which CI=true forbids, axe finds nothing wrong."""
    return "" if not AXE.exists() and not os.environ.get("CI") else request.getfixturevalue("axe")


def found_by(page: Page, axe: str, scheme: str, part: str = "html") -> list[str]:
    """What is wrong with a part of a page; in the dark, which is looked at after the light, with its colours alone."""
    expect(page.locator(f"[data-theme]:not([data-theme={scheme}])")).to_have_count(0)  # all pictures have them by now
    if not page.evaluate("'axe' in globalThis"):  # 650 kB, a third of a second to send
        page.evaluate("(axe) => (0, eval)(axe)", axe)
    dark = {"type": "rule", "values": ["color-contrast"]}
    return page.evaluate(RUN, [dark if scheme == "dark" else TAGS, [] if scheme == "dark" else MORE, EXCEPTED, part])


def found_in_both(page: Page, axe: str) -> list[str]:
    """The same in light, then in the dark, of a page that follows its reader's colours by itself."""
    wrong: list[str] = []
    if not axe:
        return wrong
    for scheme in ("light", "dark"):
        colours: Any = scheme
        page.emulate_media(color_scheme=colours)
        wrong += [f"{scheme}: {one}" for one in found_by(page, axe, scheme)]
    page.emulate_media(color_scheme="light")
    return wrong
