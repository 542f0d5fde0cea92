"""Every page in the room there is: a phone, a window twice enlarged, a projector, a laptop, a large screen."""

from __future__ import annotations

import math
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, ViewportSize

from tests.pages.visiting import PATIENCE, eventually, visit, wait_for_heads, wait_for_rest

PHONE: ViewportSize = {"width": 390, "height": 844}
BESIDE_SIDEBAR: list[ViewportSize] = [{"width": 1024, "height": 768}, {"width": 820, "height": 1180}]
ENLARGED: ViewportSize = {"width": 720, "height": 450}  # a laptop's window at 200 %
PROJECTOR: ViewportSize = {"width": 1280, "height": 720}
LAPTOP: ViewportSize = {"width": 1440, "height": 900}
LARGE: ViewportSize = {"width": 1920, "height": 1080}

# page → its views, each with its picture: whole on a projector, larger on a large screen
VIEWS: dict[str, dict[str, str]] = {
    "": {"layer=6&head=5": ".head-map", "layer=7&head=1&heads.other=L3H7": ".head-map"},
    "cell": {"layer=6&head=5": ".cell-steps"},
    "positions": {
        "layer=6&head=5": ".rotation",
        "positions.view=difference": ".score-shift",
        "positions.view=frequencies": ".score-split",
        "positions.view=distance": ".score-sweep",
        "positions.view=what_if": ".head-map",
        "positions.view=others": ".position-schemes .pictures",
        "positions.view=sinusoid": ".layer-head-map",
        "positions.view=sinusoid&positions.sine=turn": ".rotation",
        "positions.view=sinusoid&positions.sine=terms": ".layer-head-map",
        "positions.view=sinusoid&positions.sine=shuffled": ".layer-head-map",
    },
    "compare": {
        "layer=6&head=4": ".head-map",
        "compare.view=metrics": ".atlas-paired",
        "compare.view=next&compare.model=encoder": ".atlas-paired",
        "compare.view=tokens&compare.model=encoder": ".atlas-aligned",
    },
    "long_texts": {
        "": ".long-map",
        "long_texts.view=heads": ".head-grid",
        "long_texts.view=curves": "[class*=st-key-long_] .main-svg",
    },
    "next_token": {"": ".sampling-bench", "next_token.compare=1&next_token.draws=100": ".sampling-bench"},
    "film": {"film.length=8&film.steps=6&film.frame=2": ".film .frame canvas"},
    "kv_cache": {
        "kv_cache.view=bytes": ".st-key-kv_published .main-svg",
        "kv_cache.length=50": ".st-key-race_work .main-svg",
        "kv_cache.view=what_if": ".st-key-kv_curve .main-svg",
    },
    "masks": {
        "masks.pattern=bigbird": ".mask-gallery",
        "masks.view=model&masks.pattern=window": ".head-map",
        "masks.view=sweep": ".st-key-mask_sweep .main-svg",
    },
    "sharing": {"layer=6&head=5": ".head-map", "sharing.view=counts": ".head-groups"},
    "block": {
        "": ".model-stages",
        "block.view=stream": ".st-key-stream_grown .main-svg",
        "block.view=norms": ".model-stages",
        "block.view=ffn&block.layer=7": ".st-key-ffn_curves .main-svg",
        "block.view=experts&block.experts=random": ".layer-head-map",
        "block.view=lens": ".layer-head-map",
        "block.view=learning": ".layer-head-map",
        "block.view=sizes": ".st-key-sizes_parts .main-svg",
    },
    "edit_heads": {
        "edits=ScaledHead(6,5,0.0)&layer=6&head=5": ".head-map",
        "edit_heads.view=effects": ".layer-head-map",
        "edit_heads.view=patching&query=6": ".layer-head-map",
    },
    "families": {"families.family=two": ".family-masks", "families.family=prefix": ".head-map"},
    "steps": {
        "": ".step-by-step",
        "steps.source=model&layer=6&head=4": ".step-by-step",
        "steps.view=scale": "[class*=st-key-steps_scale_] .main-svg",
        "steps.view=length": ".st-key-steps_length_entropy_0 .main-svg",
        "steps.view=similarity": ".step-by-step",
        "steps.view=gradients": ".st-key-steps_gradient_depth_0 .main-svg",
        "steps.view=otherwise&steps.otherwise=matrices": ".layer-head-map",
        "steps.view=otherwise&steps.otherwise=rank": ".st-key-steps_rank .main-svg",
    },
    "zoo": {
        "layer=6&head=4": ".head-map",
        "layer=6&head=4&zoo.view=flash": ".flash-film",
        "layer=6&head=4&zoo.view=linear": ".bracketings",
        "zoo.view=model&layer=6&head=4": ".head-map",
        "zoo.view=cost": ".st-key-zoo_cost .main-svg",
    },
}
OFTEN = ("", "positions", "film")  # pages whose first view is looked at in every run of the tests
LOOKS = [
    pytest.param(
        path,
        address,
        picture,
        marks=[pytest.mark.long] if number or path not in OFTEN else [],
        id=f"{path or 'heads'}-{number}",
    )
    for path, views in VIEWS.items()
    for number, (address, picture) in enumerate(views.items())
]
# the size of the smallest words of charts, which Plotly draws, on the screen
SMALLEST = """() => {
  const scale = (one) => one.ownerSVGElement.getBoundingClientRect().width / one.ownerSVGElement.width.baseVal.value
  const size = (one) => scale(one) * parseFloat(getComputedStyle(one).fontSize)
  const words = [...document.querySelectorAll(".js-plotly-plot text")].filter((one) => one.textContent.trim())
  return Math.min(99, ...words.map(size))
}"""
SIDEWAYS = """() => Math.max(...[document.scrollingElement, document.querySelector('[data-testid=stMain]')]
  .map((box) => box.scrollWidth - box.clientWidth))"""
# every two neighbouring columns of a row of which one is printed over the other
OVERLAPS = """() => [...document.querySelectorAll('[data-testid=stHorizontalBlock]')].flatMap((row) => {
  const columns = [...row.children].filter((one) => one.matches('[data-testid=stColumn]'))
  const ends = columns.map((one) => ({ box: one.getBoundingClientRect(), over: one.scrollWidth - one.clientWidth }))
  const meets = (left, right) => left.box.bottom > right.box.top && left.box.right + left.over > right.box.left + 1
  return ends.slice(1).filter((right, i) => meets(ends[i], right))
}).length"""

# what lists have chosen and have no room to show
CUT = """() => [...document.querySelectorAll('.stMain [data-testid=stSelectbox] input')]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.value)"""


def resize(page: Page, size: ViewportSize) -> None:
    """Another window, and figures that are drawn for it."""
    page.set_viewport_size(size)
    page.wait_for_timeout(250)  # a frame for the layout, one for the figures, and Plotly's own rest


def boxes(picture: Locator) -> list[Any]:
    found = [one.bounding_box() for one in picture.all()]
    return [box for box in found if box is not None]


def low_end(picture: Locator) -> float:
    return max(box["y"] + box["height"] for box in boxes(picture))


def size_of(picture: Locator) -> tuple[float, float]:
    first = boxes(picture)[0]
    return first["width"], first["height"]


def top_of(part: Locator) -> float:
    """Its upper edge in pixels, below every screen while a run that goes on has not drawn it again."""
    return next((box["y"] for box in boxes(part)), math.inf)


def scrolled(page: Page) -> float:
    return page.get_by_test_id("stMain").evaluate("(main) => main.scrollTop")


@pytest.mark.parametrize("path, address, picture", LOOKS)
def test_the_picture_is_whole_on_a_projector_and_grows_and_nothing_scrolls_sideways(
    new_page, server, path, address, picture
):
    page = new_page(viewport=PROJECTOR)
    page.goto(f"{server.url}/{path}?{address}")
    shown = page.locator(picture)
    shown.first.wait_for(timeout=PATIENCE)
    page.locator(".theme-switch[data-painted]").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    eventually(page, lambda: low_end(shown), lambda end: end <= PROJECTOR["height"])
    resize(page, LAPTOP)
    usual = size_of(shown)
    resize(page, LARGE)
    eventually(page, lambda: size_of(shown), lambda size: size[0] > 1.1 * usual[0] and size[1] > 1.1 * usual[1])
    assert low_end(shown) <= LARGE["height"]
    assert page.evaluate(SMALLEST) >= 13
    assert page.evaluate(CUT) == []
    for narrow in (*BESIDE_SIDEBAR, ENLARGED, PHONE):
        resize(page, narrow)
        eventually(page, lambda: page.evaluate(SIDEWAYS), lambda pixels: pixels == 0)
    resize(page, ENLARGED)
    assert page.evaluate(OVERLAPS) == 0


@pytest.mark.long
def test_words_of_a_figure_are_as_much_larger_as_the_screen_is_and_a_click_meets_its_cell(new_page, server):
    page = new_page(viewport=LARGE)
    wait_for_heads(visit(page, server, layer="6", head="5"))
    head_map = page.locator(".head-map")
    zoom = head_map.evaluate("(root) => root.currentCSSZoom")
    assert zoom == pytest.approx(1.2)  # 11 pixels, the smallest, are 13 here
    canvas = head_map.locator("canvas").first
    plot = head_map.evaluate("(root) => JSON.parse(root.dataset.geometry)")
    side = plot["width"] / 8
    at = [1.2 * (plot["x"] + 2.5 * side), 1.2 * (plot["y"] + 5.5 * side)]
    canvas.click(position={"x": at[0], "y": at[1]})
    eventually(page, lambda: head_map.get_attribute("data-selected"), lambda cell: cell == "5,2")
    assert canvas.evaluate("(canvas) => canvas.width / canvas.getBoundingClientRect().width") == pytest.approx(
        1, abs=0.01
    )


@pytest.mark.long
def test_a_head_that_is_tapped_on_a_phone_comes_into_view(new_page, server):
    page = new_page(viewport=PHONE, has_touch=True)
    wait_for_heads(visit(page, server, layer="6", head="5"))
    wait_for_rest(page)
    grid, heading = page.locator(".head-grid canvas"), page.locator(".st-key-map_heading")
    assert scrolled(page) == 0
    assert top_of(heading) > PHONE["height"]
    grid.hover(position={"x": 60, "y": 60})
    grid.press("ArrowLeft")
    wait_for_rest(page)
    assert scrolled(page) == 0
    grid.tap(position={"x": 150, "y": 120})
    eventually(page, lambda: top_of(heading), lambda top: 0 < top < PHONE["height"] / 2)
    wait_for_rest(page)
    assert 0 < top_of(heading) < PHONE["height"] / 2
    resize(page, PROJECTOR)  # where nothing has to be sought
    before = scrolled(page)
    grid.click(position={"x": 100, "y": 100})
    wait_for_rest(page)
    assert scrolled(page) == before


def test_an_example_or_a_page_that_is_tapped_on_a_phone_is_seen_at_once(new_page, server):
    page = new_page(viewport=PHONE, has_touch=True)
    wait_for_heads(visit(page, server, lang="zh"))
    opens = page.get_by_test_id("stExpandSidebarButton")  # there while the sidebar is closed
    opens.tap()
    opens.wait_for(state="hidden", timeout=PATIENCE)
    page.get_by_role("button", name="常识", exact=True).tap()
    opens.wait_for(timeout=PATIENCE)
    said = page.locator(".atlas-head[data-finding]", has_text="看向")
    said.wait_for(timeout=PATIENCE)
    eventually(page, lambda: top_of(said), lambda top: 0 < top < PHONE["height"])
    opens.tap()
    opens.wait_for(state="hidden", timeout=PATIENCE)
    page.get_by_role("link", name="掩码", exact=False).tap()
    page.locator(".mask-gallery").first.wait_for(timeout=PATIENCE)
    opens.wait_for(timeout=PATIENCE)
