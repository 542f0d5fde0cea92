"""The page KV cache in a browser: the race is seen running to its end."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.pages.visiting import PATIENCE, eventually, visit, wait_for_rest

pytestmark = pytest.mark.browser

# Every chart that comes into the page: its place, its kind, and how many of that place there are then.
MOUNTED = """
const kinds = { growing: "[class*=_growing]", plotly: ".stPlotlyChart" }
const placeOf = (node) => {
  for (; node; node = node.parentElement) {
    const key = /st-key-((?:race|kv|mask|sharing)_[a-z_]+?)(?:_growing)?(?: |$)/.exec(node.className)
    if (key) return key[1]
  }
}
const there = (place) => [...document.querySelectorAll(Object.values(kinds))].filter((one) => placeOf(one) === place)
window.mounted = []
new MutationObserver((changes) => {
  for (const added of changes.flatMap((change) => [...change.addedNodes])) {
    if (!added.isConnected || added.nodeType !== Node.ELEMENT_NODE) continue
    for (const [kind, selector] of Object.entries(kinds))
      for (const one of [added, ...added.querySelectorAll("*")])
        if (one.matches(selector)) mounted.push([placeOf(one), kind, there(placeOf(one)).length])
  }
}).observe(document, { childList: true, subtree: true })"""


def test_the_race_is_seen_to_run_and_ends_with_equal_tokens(server, page):
    visit(page, server, "kv_cache", kv="race", race_length="50")
    expect(page.locator(".atlas-lanes caption")).to_contain_text("equal: 50 of 50", timeout=3 * PATIENCE)
    expect(page.get_by_role("button", name="Race again")).to_be_visible(timeout=3 * PATIENCE)
    expect(page.locator(".st-key-race_speed .scatterlayer .trace")).to_have_count(2)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


@pytest.mark.long
@pytest.mark.parametrize(
    "path, address, places",
    [
        ("kv_cache", {"race_length": "50"}, ["race_speed", "race_times", "race_times_book", "race_work"]),
        pytest.param(
            "kv_cache", {"kv": "what_if", "text": "the dog sat and " * 16}, ["kv_curve"], marks=pytest.mark.long
        ),
        ("masks", {"masks": "sweep"}, ["mask_sweep"]),
        pytest.param(
            "sharing",
            {"sharing": "counts"},
            ["sharing_bytes", "sharing_kl", "sharing_perplexity"],
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_chart_that_grows_is_mounted_once_and_once_more_when_it_rests(server, page, path, address, places):
    page.add_init_script(MOUNTED)
    visit(page, server, path, **address)
    wanted = [*((place, "growing", 1) for place in places), *((place, "plotly", 1) for place in places)]
    eventually(page, lambda: page.locator(".js-plotly-plot").count(), lambda count: count == len(places))
    wait_for_rest(page)
    page.wait_for_timeout(500)  # longer than from one look to the next
    found = sorted(map(tuple, page.evaluate("mounted")), key=lambda one: (one[1], one[0]))
    assert found == wanted
