"""A small class, held as a teacher would: a laptop and phones, from the open room to the results, in each language."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.axe import found_in_both
from tests.browser import PATIENCE, Server, Watch
from tests.pages.visiting import end_room, eventually
from ui.state.url_state import DEFAULT_TEXT
from ui.wording.i18n import catalog

pytestmark = pytest.mark.browser

PHONES = 3
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FOLLOWED_IN = 1000  # ms, of browsers that share two cores with other tests; benchmarks/classroom.py measures it
ANSWERS = ("was", "wanted", "had")


def in_words(lang: str, words: str) -> str:
    return catalog(lang).gettext(words)


@pytest.fixture
def teacher(new_page: Callable[..., Page]) -> Page:
    return new_page()


@pytest.fixture
def phones(new_page: Callable[..., Page], request: pytest.FixtureRequest) -> list[Page]:
    locale = {"en": "en-GB", "zh": "zh-CN"}[request.node.callspec.params["lang"]]
    return [new_page(**PHONE, locale=locale) for _ in range(PHONES)]


def click(page: Page, key: str) -> None:
    page.locator(f".st-key-{key} button").first.click()


def ask(teacher: Page, kind: str) -> None:
    click(teacher, "ask_class")
    click(teacher, f"ask_{kind}")
    expect(teacher.locator(".atlas-answered")).to_be_visible()


def click_head(page: Page, layer: int, head: int) -> None:
    grid = page.locator(".head-grid")
    drawn = json.loads(grid.get_attribute("data-geometry") or "")
    box = page.locator(".head-grid canvas").bounding_box()
    assert box
    gap = drawn["groupGap"] * (head // 2)  # the embedded model's heads share keys in pairs
    x = drawn["left"] + gap + (head + 0.5) * drawn["pitch"]
    page.mouse.click(box["x"] + x, box["y"] + drawn["top"] + (layer + 0.6) * drawn["rowHeight"])
    expect(grid).to_have_attribute("data-selected", f"{layer},{head}")


# Milliseconds since the epoch at which a figure of a page showed this. It may be drawn anew meanwhile, as another node.
WHEN = """([figure, name, value, patience]) => { window.seen = new Promise((done, refuse) => {
  setTimeout(() => refuse(new Error(`${figure} shows no ${name} ${value}`)), patience)
  const inside = (node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]
  const all = (root) => [...root.querySelectorAll("*")].flatMap(inside)
  let found
  const shown = () => {
    if (!found?.isConnected) found = all(document).find((node) => node.matches(figure))
    const now = found?.dataset[name]
    return value === null ? Boolean(now) : now === value
  }
  const look = () => (shown() ? done(Date.now()) : requestAnimationFrame(look))
  look()
}) }"""


def followed(pages: list[Page], figure: str, name: str, value: str | None, act: Callable[[], None]) -> None:
    """What the first of the pages, the teacher's, shows after an act (any value: None) is on the others in time."""
    for page in pages:
        page.evaluate(WHEN, [figure, name, value, PATIENCE])
    act()
    at, *after = (page.evaluate("window.seen") for page in pages)
    assert max(after) - at <= FOLLOWED_IN


@pytest.mark.parametrize("lang", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_a_class_from_the_open_room_to_the_results(
    server: Server, teacher: Page, phones: list[Page], watch: Watch, axe_if_there: str, lang: str
):
    wrong: dict[str, list[str]] = {}

    def look(state: str, often: bool = False) -> None:
        """What axe finds wrong on a phone; of most states where there is time."""
        if often or lang == "zh":
            wrong[state] = found_in_both(phones[0], axe_if_there)

    lines: list[WebSocketRoute] = []
    phones[1].route_web_socket("**/classroom/talk", lambda line: lines.append(line) or line.connect_to_server())
    teacher.goto(f"{server.url}/?lang={lang}&text={quote(DEFAULT_TEXT)}")  # its next token is known
    expect(teacher.locator(".head-grid")).to_have_attribute("data-selected", re.compile(r"\d"), timeout=PATIENCE)
    click(teacher, "open_room")
    code = teacher.locator(".atlas-huge").inner_text()
    for phone in phones[:-1]:
        phone.goto(f"{server.url}/join")
        phone.locator("input.code").fill(code.lower())
        phone.locator("form button").click()
        expect(phone.locator("header h1")).to_have_text(code)
    expect(teacher.locator(".room-link")).to_have_text(in_words(lang, "{count} here").format(count=PHONES - 1))
    look("waiting")
    click(teacher, "hide_code")
    for phone in phones[:-1]:
        expect(phone.locator(".head-map")).to_be_visible()
    phones[-1].goto(f"{server.url}/join/{code}")  # who comes late
    expect(phones[-1].locator(".head-grid")).to_be_visible()
    expect(phones[0].locator("h2").first).to_contain_text(in_words(lang, "Which token looks at which?"))
    expect(phones[0].locator(".figure.of-head_map h3")).to_have_text(re.compile(r" L\d+H\d+ · \S"))
    expect(phones[0].locator(".figure.of-token_strip h3")).to_be_hidden()

    _follow_a_click(teacher, phones)
    look("following", often=True)
    _come_back(teacher, phones[1], lines)
    _predict(teacher, phones, lang, look)
    _wander(server, phones[0], code, lang)
    end_room(teacher)
    for phone in phones:
        expect(phone.locator(".problem")).to_have_text(in_words(lang, "The teacher has ended this room."))
    look("ended")
    assert {state: found for state, found in wrong.items() if found} == {}
    expect(teacher.locator(".st-key-open_room")).to_be_visible()
    watch.errors[:] = [error for error in watch.errors if "WebSocket" not in error]  # of the connection cut on purpose


def _follow_a_click(teacher: Page, phones: list[Page]) -> None:
    """What is chosen in a figure is on the phones before the page has run again; its map comes with the run."""
    pages = [teacher, *phones]
    followed(pages, ".head-grid", "selected", "5,2", lambda: click_head(teacher, 5, 2))
    for phone in phones:
        expect(phone.locator(".figure[data-key=head_map] .head-map")).to_be_visible()
        expect(phone.locator(".figure.of-head_map h3")).to_contain_text("L5H2")
        expect(phone.locator(".figure[data-key=next_token] .still .bar").first).to_be_visible()  # which is HTML there
    chip = teacher.locator(".token-strip .chip").nth(2)
    followed(pages, ".token-strip .pointed", "chip", "2", chip.hover)
    canvas = teacher.locator(".head-map canvas")
    followed(pages, ".head-map", "hovered", None, lambda: canvas.hover(position={"x": 150, "y": 250}))
    hovered = teacher.locator(".head-map").get_attribute("data-hovered")
    assert hovered
    for phone in phones:
        expect(phone.locator(".head-map")).to_have_attribute("data-hovered", hovered)


def _come_back(teacher: Page, phone: Page, lines: list[WebSocketRoute]) -> None:
    """A phone whose connection was cut finds the class by itself, as it is by then."""
    before = len(lines)
    lines[-1].close()
    click_head(teacher, 2, 1)
    expect(phone.locator(".head-grid")).to_have_attribute("data-selected", "2,1")
    assert len(lines) == before + 1
    click_head(teacher, 5, 2)
    expect(phone.locator(".head-grid")).to_have_attribute("data-selected", "5,2")


def _predict(teacher: Page, phones: list[Page], lang: str, look: Callable[..., None]) -> None:
    ask(teacher, "next")
    expect(phones[0].locator(".vote input")).to_be_visible()
    look("question")
    for phone, typed in zip(phones, ANSWERS):
        expect(phone.locator(".head-map")).to_be_hidden()
        expect(phone.locator("header a")).to_be_hidden()  # no way around to the answer
        phone.locator(".vote input").fill(typed)
        phone.locator(".options button", has_text=re.compile(rf"^·{typed}$")).click()
        expect(phone.locator(".answer")).to_contain_text(f"·{typed}")
    expect(teacher.locator(".class-answered")).to_have_text(str(PHONES))
    look("answered", often=True)
    assert "·was" not in teacher.locator("[data-testid=stMain]").inner_text()  # nothing tells the answer yet
    click(teacher, "vote_again")
    expect(teacher.locator(".class-answered")).to_have_text("0")
    for phone in phones[:2]:
        expect(phone.locator(".vote .quiet:not(:empty)")).to_be_visible()
        _answer_by_keyboard(phone, lang)
    expect(teacher.locator(".class-answered")).to_have_text("2")
    click(teacher, "reveal")
    for phone in phones:
        expect(phone.locator(".figure .chart")).to_have_count(3)  # two votes, and the model
    expect(phones[0].locator(".chart text.own")).to_have_text(["·was"] * 3)
    look("revealed")
    with teacher.expect_download() as download:
        click(teacher, "results")
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert rows[0][4:6] == [in_words(lang, "first vote"), in_words(lang, "second vote")]
    counts = {row[3]: row[4:6] for row in rows[1:]}
    assert (counts["·was"], counts["·wanted"], counts["·had"]) == (["1", "2"], ["1", "0"], ["1", "0"])
    bits = {row[3]: float(row[7]) for row in rows[1:]}
    assert bits["·was"] == pytest.approx(0.756, abs=0.01)  # 59 % on the page Heads
    click(teacher, "drop_poll")
    for phone in phones:
        expect(phone.locator(".head-map")).to_be_visible()


def _answer_by_keyboard(phone: Page, lang: str) -> None:
    """With nothing else, and all of it said to who hears the page."""
    phone.locator(".vote input").focus()
    phone.keyboard.type("was")
    expect(phone.locator(".options button", has_text=re.compile("^·was$"))).to_be_visible()
    while phone.evaluate("document.activeElement.dataset.value") is None or (
        phone.evaluate("document.activeElement.textContent") != "·was"
    ):
        phone.keyboard.press("Tab")
    phone.keyboard.press("Enter")
    expect(phone.locator(".answer")).to_contain_text("·was")
    heard = phone.locator("main").aria_snapshot()
    question, typed = in_words(lang, "Which token comes next?"), in_words(lang, "Type a token")
    assert f'heading "{question}" [level=2]' in heard
    assert f'textbox "{typed}": was' in heard
    assert 'button "·was" [pressed]' in heard
    assert re.search(r"status: .*·was", heard)
    field = phone.get_by_label(typed)
    for token in ("had", "was"):
        field.fill(token)
        field.press("Enter")  # before what begins so has come
        expect(phone.locator(".answer")).to_contain_text(f"·{token}")
    expect(phone.locator(".vote .problem")).to_have_text("")


def _wander(server: Server, phone: Page, code: str, lang: str) -> None:
    """The whole app at the very address, and back."""
    phone.locator("header a").click()
    back = phone.locator(".atlas-back a")
    expect(back).to_have_text(f"← {in_words(lang, 'Back to the class')}", timeout=PATIENCE)
    expect(phone.locator(".head-grid")).to_have_attribute("data-selected", "5,2")
    back.click()
    expect(phone).to_have_url(f"{server.url}/join/{code}")
    expect(phone.locator(".head-map")).to_be_visible()


@pytest.mark.long
def test_a_phone_shows_the_frame_of_the_film_that_the_teacher_does(
    server: Server, teacher: Page, new_page: Callable[..., Page]
):
    teacher.goto(f"{server.url}/film")
    film = teacher.locator(".film")
    expect(film).to_have_attribute("data-frame", "0", timeout=PATIENCE)
    click(teacher, "open_room")
    code = teacher.locator(".atlas-huge").inner_text()
    click(teacher, "hide_code")
    phone = new_page(**PHONE)
    phone.goto(f"{server.url}/join/{code}")
    for _ in range(3):
        teacher.locator(".film .step").click()
        expect(film).to_have_attribute("data-stepping", "false")
    expect(film).to_have_attribute("data-frame", "3")
    expect(phone.locator(".film")).to_have_attribute("data-frame", "3")
    followed([teacher, phone], ".film", "frame", "0", teacher.locator(".film .start").click)
    teacher.locator(".film .step").click()
    phone.reload()
    expect(phone.locator(".film")).to_have_attribute("data-frame", "1")
    end_room(teacher)
    expect(phone.locator("form")).to_be_visible()


def test_a_slider_of_next_token_is_on_the_phone_where_the_teacher_has_it(
    server: Server, teacher: Page, new_page: Callable[..., Page]
):
    teacher.goto(f"{server.url}/next_token?text={quote(DEFAULT_TEXT)}")
    bench = teacher.locator(".sampling-bench[data-painted]")
    slider = bench.get_by_role("slider", name="temperature", exact=True).first
    expect(slider).to_be_visible(timeout=PATIENCE)
    click(teacher, "open_room")
    code = teacher.locator(".atlas-huge").inner_text()
    click(teacher, "hide_code")
    phone = new_page(**PHONE)
    phone.goto(f"{server.url}/join/{code}")
    theirs = phone.locator(".sampling-bench[data-painted]")
    its = theirs.get_by_role("slider", name="temperature", exact=True).first
    expect(its).to_have_value(slider.input_value())
    expect(theirs).to_have_attribute("data-summary", bench.get_attribute("data-summary") or "")
    before = bench.get_attribute("data-summary")
    box = slider.bounding_box()
    assert box
    teacher.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2)
    teacher.mouse.down()
    for part in (0.4, 0.5, 0.6):  # while it is held
        teacher.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
        value = slider.input_value()
        expect(its).to_have_value(value, timeout=FOLLOWED_IN)
    teacher.mouse.up()
    eventually(
        phone,
        lambda: {one.get_attribute("data-summary") for one in (bench, theirs)},
        lambda said: len(said) == 1 and before not in said,
    )
    slider.press("Home")
    expect(its).to_have_value(slider.input_value())
    assert slider.input_value() not in ("", value)
    end_room(teacher)
    expect(phone.locator("form")).to_be_visible()
