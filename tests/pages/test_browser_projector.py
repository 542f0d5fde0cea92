"""The app on a projector of 1280×720: large, with nothing beside the picture, driven by a presenter's two buttons."""

from __future__ import annotations

import pytest
from playwright.sync_api import FloatRect, Locator, Page, ViewportSize, expect

from tests.browser import Server
from tests.pages.test_browser_class import ask, click
from tests.pages.test_browser_lessons import shipped
from tests.pages.test_browser_room import LARGE, SMALLEST
from tests.pages.visiting import PATIENCE, end_room, eventually, visit, wait_for_heads, wait_for_rest

PROJECTOR: ViewportSize = {"width": 1280, "height": 720}
# what is wrong with charts that Plotly draws: words printed over each other, cut off, or not black
WRONG = """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap((plot) => {
  const box = (node) => node.getBoundingClientRect()
  const along = (one, other) => one.left < other.right && other.left < one.right
  const meet = (one, other) => along(one, other) && one.top < other.bottom && other.top < one.bottom
  const words = [...plot.querySelectorAll("text")], whole = box(plot.closest(".stElementContainer"))
  const items = [...plot.querySelectorAll(".legend .traces")]
  const names = items.map((item) => item.querySelector("text"))
  const marks = items.map((item) => box(item.querySelector(".layers")))
  const over = names.filter((name, at) => marks.some((mark, of) => of !== at && meet(box(name), mark)))
  const out = words.filter((one) => box(one).right > whole.right + 1 || box(one).bottom > whole.bottom + 1)
  const pale = words.filter((one) => getComputedStyle(one).fill !== "rgb(0, 0, 0)")
  const told = ([fault, nodes]) => nodes.map((node) => `${fault}: ${node.textContent}`)
  return Object.entries({ over, out, pale }).flatMap(told)
})"""
# where the map's rows end on the screen: below them is its legend
LAST_ROW = """() => {
  const root = document.querySelector("[class*=st-key-head_map] [data-testid=stBidiComponentIsolated]").shadowRoot
  const map = root.querySelector(".head-map"), { y, height } = JSON.parse(map.dataset.geometry)
  return map.querySelector("canvas").getBoundingClientRect().top + (y + height) * map.currentCSSZoom
}"""
# parts of the page's head and main block on which the button lies
FREE = """() => {
  const { left, right, top, bottom } = document.querySelector(".atlas-projector-leave").getBoundingClientRect()
  const meets = (box) => box.width && box.left < right && left < box.right && box.top < bottom && top < box.bottom
  const parts = [...document.querySelectorAll(".stMainBlockContainer .stElementContainer")]
  return parts.filter((part) => meets(part.getBoundingClientRect())).map((part) => part.textContent)
}"""


def box(found: Locator) -> FloatRect:
    """Where it stands."""
    place = found.bounding_box()
    assert place is not None
    return place


def test_the_picture_grows_and_the_presenters_buttons_go_through_film_and_pages(page: Page, server: Server):
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, server)
    wait_for_heads(page)
    before = page.locator(".head-map").bounding_box()
    page.locator("body").press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    assert before is not None
    eventually(
        page,
        lambda: (page.locator(".head-map").bounding_box() or before)["width"] / before["width"],
        lambda times: times > 1.15,
    )
    assert "projector" not in page.url
    page.keyboard.press("PageDown")
    page.wait_for_url("**/cell?**")
    wait_for_rest(page)
    page.keyboard.press("PageUp")
    page.wait_for_url(lambda url: "/cell" not in url)
    wait_for_rest(page)
    visit(page, server, "film")
    place = page.locator(".film .place")
    expect(place).to_have_text("the prompt")
    wait_for_rest(page)
    page.keyboard.press("PageDown")
    expect(place).to_have_text("token 1 of 20")
    page.keyboard.press("PageUp")
    expect(place).to_have_text("the prompt")
    wait_for_rest(page)
    page.keyboard.press("PageUp")  # there is no frame before it, but a page
    page.wait_for_url("**/next_token?**")


def test_a_presenters_buttons_go_from_code_to_page_and_from_a_question_to_its_answers_and_back(new_page, server):
    page = new_page(viewport=PROJECTOR)
    visit(page, server)
    wait_for_heads(page)
    wait_for_rest(page)
    click(page, "open_room")
    expect(page.locator(".atlas-huge")).to_be_visible()
    page.locator(".atlas-title").click()  # the keyboard is of no button
    page.keyboard.press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.keyboard.press("PageUp")
    page.keyboard.press("PageDown")
    expect(page.locator(".atlas-huge")).to_have_count(0)
    wait_for_heads(page)
    page.keyboard.press("p")
    ask(page, "next")
    address = page.url
    answers = page.locator("[class*=st-key-poll_][class*=_growing]")  # of the class, and of the model
    page.keyboard.press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.keyboard.press("PageUp")
    wait_for_rest(page)
    expect(page.locator(".atlas-answered")).to_be_visible()
    page.keyboard.press("PageDown")
    expect(answers).to_have_count(2)
    wait_for_rest(page)
    page.keyboard.press("PageUp")
    wait_for_rest(page)
    expect(answers).to_have_count(2)
    assert page.url == address
    page.keyboard.press("PageDown")
    expect(page.locator(".st-key-class_poll")).to_have_count(0)
    wait_for_heads(page)
    assert page.url == address
    page.keyboard.press("PageDown")  # now it is a page that is turned
    page.wait_for_url("**/cell?**")
    page.keyboard.press("p")
    end_room(page)
    expect(page.locator(".st-key-open_room")).to_be_visible()


@pytest.mark.parametrize(
    "size", [PROJECTOR, pytest.param(LARGE, marks=pytest.mark.long)], ids=["1280x720", "1920x1080"]
)
@pytest.mark.parametrize(
    "address, charts",
    [("block?block.view=stream", 2), ("steps?steps.view=scale", 2), ("zoo?zoo.view=cost&layer=6&head=4", 1)],
    ids=["stream", "scale", "cost"],
)
def test_charts_that_stand_there_grow_with_all_else_and_their_words_are_apart(new_page, server, size, address, charts):
    page = new_page(viewport=size, color_scheme="light")
    page.goto(f"{server.url}/{address}")
    drawn = page.locator(".js-plotly-plot .main-svg:first-child")
    expect(drawn).to_have_count(charts, timeout=PATIENCE)
    wait_for_rest(page)
    before = page.evaluate(SMALLEST)
    page.locator("body").press("p")
    eventually(page, lambda: page.evaluate(SMALLEST) / before, lambda times: times > 1.2)
    eventually(page, lambda: page.evaluate(WRONG), lambda wrong: not wrong)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_row_that_a_lesson_asks_for_is_on_the_projector(new_page, server, language):
    page, lesson = new_page(viewport=PROJECTOR), shipped(language)
    address = f"layer=6&head=4&lang={language}&lesson={lesson.name}&step=1"
    page.goto(f"{server.url}/?{address}")
    expect(page.locator(".st-key-lesson h2")).to_have_text(lesson.steps[0].title, timeout=PATIENCE)
    if language == "en":  # the address shows this step's own picture, which its question comes before
        page.locator(".st-key-lesson_skip button").click(timeout=PATIENCE)
    wait_for_heads(page)
    wait_for_rest(page)
    page.locator("body").press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    eventually(page, lambda: page.evaluate(LAST_ROW), lambda end: end <= PROJECTOR["height"])


@pytest.mark.parametrize("address", ["text=The+pig+is+behind+the+dog.+It", "lang=zh&text=猫看见了狗，它"])
def test_the_row_that_the_finding_names_is_on_the_projector_and_the_menu_on_its_line(new_page, server, address):
    page = new_page(viewport=PROJECTOR)
    page.goto(f"{server.url}/?{address}")
    wait_for_heads(page)
    wait_for_rest(page)
    page.locator("body").press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    eventually(page, lambda: page.evaluate(LAST_ROW), lambda end: end <= PROJECTOR["height"])
    finding, menu = (box(page.locator(one)) for one in (".st-key-map_heading b", ".st-key-map_display button"))
    assert finding["y"] - 8 <= menu["y"] < finding["y"] + finding["height"]
    assert finding["x"] + finding["width"] <= menu["x"]
    page.locator(".st-key-map_display button").click()
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_whose_numbers_are_drawn_is_chosen_on_the_line_of_the_views_of_steps(new_page, server, language):
    page = new_page(viewport=PROJECTOR)
    page.goto(f"{server.url}/steps?steps.source=model&lang={language}")
    page.locator(".step-by-step .matrix").first.wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    page.locator("body").press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    rows = page.locator(".st-key-steps_views [data-testid=stButtonGroup]")
    expect(rows).to_have_count(2)
    eventually(page, lambda: [box(rows.nth(at))["y"] for at in (0, 1)], lambda tops: abs(tops[0] - tops[1]) < 2)
    eventually(page, lambda: box(page.locator(".step-by-step .matrix").first)["y"], lambda top: top < 560)


def test_a_chart_that_was_scaled_names_the_point_under_the_pointer(new_page, server):
    page = new_page(viewport=LARGE)
    page.goto(f"{server.url}/block?block.view=stream")
    chart = page.locator(".st-key-stream_grown")
    chart.locator(".main-svg").first.wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    page.locator("body").press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    wait_for_rest(page)
    chart.locator(".scatterlayer .point").nth(3).hover(force=True)
    expect(chart.locator(".hoverlayer .legendtitletext")).to_have_text("3", timeout=PATIENCE)


def test_the_way_back_lies_over_nothing(new_page, server):
    page = new_page(viewport=PROJECTOR)
    page.goto(f"{server.url}/block?block.view=stream")
    page.locator(".st-key-stream_grown .main-svg").first.wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    page.locator("body").press("p")
    leave, head = page.get_by_role("button", name="leave projector"), page.locator(".st-key-page_head")
    expect(leave).to_be_visible()
    wait_for_rest(page)
    assert page.evaluate(FREE) == []
    head.hover()
    page.mouse.wheel(0, 300)
    expect(leave).to_have_css("opacity", "0")
    page.mouse.wheel(0, -300)
    expect(leave).to_have_css("opacity", "1")
    leave.click()
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
