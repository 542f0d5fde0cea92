"""The theme switch writes what Streamlit reads, for every page at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import streamlit

from tests.viz.components import shim
from tests.viz.components.test_packing import unpacked
from viz.components.theme_switch.theme_switch import SOURCE, TEXTS, ThemeSwitchPicture

PATHS = ["/", "/cell"]
HOME = "http://127.0.0.1:9/cell"  # answered by the test itself: localStorage needs an address


def test_the_payload_carries_paths_and_words():
    meta, _ = unpacked(ThemeSwitchPicture(paths=PATHS, texts=TEXTS).packed())
    assert meta == {"paths": PATHS, "texts": TEXTS, "lang": "en", "reach": None, "charts": ""}


def test_streamlit_still_keeps_the_theme_where_the_switch_writes_it():
    scripts = Path(streamlit.__file__).parent.joinpath("static", "static", "js").glob("*.js")
    found = "".join(text for script in scripts if "stActiveTheme" in (text := script.read_text(encoding="utf-8")))
    assert "stActiveTheme-${window.location.pathname}" in found
    assert re.search(r"ACTIVE_THEME:`\$\{\w+\}-v\$\{\w+\}`", found)
    version = re.search(r"CACHED_THEME_VERSION:(\w+)", found)
    assert version is not None
    assert re.search(rf"\b{version[1]}=2\b", found)


@pytest.fixture
def mount(page):
    """The switch alone on a page with an address, in this theme; counts its loads in `loads`."""

    def show(theme=shim.LIGHT):
        html = shim.page((SOURCE, ThemeSwitchPicture(paths=PATHS, texts=TEXTS).packed()), theme=theme)
        page.loads = 0

        def answer(route):
            page.loads += 1
            route.fulfill(body=html, content_type="text/html")

        page.route(HOME, answer)
        page.goto(HOME)
        page.wait_for_function("window.ready")
        return page

    return show


@pytest.mark.browser
def test_the_browser_is_told_the_language_of_the_page(static_page):
    page = static_page(shim.page((SOURCE, ThemeSwitchPicture(paths=PATHS, texts=TEXTS, lang="zh").packed())))
    page.wait_for_function("window.ready")
    assert page.evaluate("document.documentElement.lang") == "zh"


STREAMLIT = """{
    document.body.insertAdjacentHTML("afterbegin", `<div class=stApp data-test-connection-state=CONNECTED
      data-test-script-state=notRunning><section data-testid=stMain></section></div>`)
}"""
SET = "([name, value]) => document.querySelector('.stApp').setAttribute(`data-test-${name}`, value)"


@pytest.mark.browser
def test_behind_a_new_connection_the_page_runs_and_takes_nothing_until_it_is_drawn(static_page):
    payload = ThemeSwitchPicture(paths=PATHS, texts=TEXTS).packed()
    page = static_page(shim.page((SOURCE, payload)).replace("<body>", f"<body><script>{STREAMLIT}</script>"))
    page.wait_for_function("window.ready")
    page.evaluate(SET, ["connection-state", "PINGING_SERVER"])
    assert page.evaluate("window.calls") == []
    page.evaluate(SET, ["connection-state", "CONNECTED"])
    page.wait_for_function("window.calls.length === 2")  # the first was told too early: nothing runs
    assert {name for _, name, _ in page.evaluate("window.calls")} == {"run"}
    page.evaluate(SET, ["script-state", "running"])
    page.wait_for_timeout(600)
    assert page.locator("[data-testid=stMain][inert]").count() == 1
    page.evaluate(SET, ["script-state", "notRunning"])
    page.locator("[data-testid=stMain]:not([inert])").wait_for(state="attached")
    page.wait_for_timeout(2000)
    assert len(page.evaluate("window.calls")) == 2


@pytest.mark.browser
@pytest.mark.parametrize("theme, current", [(shim.LIGHT, "light"), (shim.DARK, "dark")])
def test_the_current_theme_is_marked(mount, theme, current):
    page = mount(theme)
    assert page.locator('.theme-switch [aria-pressed="true"]').all_inner_texts() == [current]


@pytest.mark.browser
@pytest.mark.parametrize("word, stored", [("dark", '"Dark"'), ("light", '"Light"')])
def test_a_click_stores_the_choice_for_every_page_and_loads_again(mount, word, stored):
    page = mount()
    with page.expect_navigation():
        page.get_by_role("button", name=word).click()
    page.wait_for_function("window.ready")
    assert page.loads == 2
    assert page.evaluate("({...localStorage})") == {f"stActiveTheme-{path}-v2": stored for path in PATHS}


@pytest.mark.browser
def test_the_open_page_is_included_even_if_it_was_not_listed(page):
    html = shim.page((SOURCE, ThemeSwitchPicture(paths=["/"], texts=TEXTS).packed()))
    page.route(HOME, lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(HOME)
    page.wait_for_function("window.ready")
    with page.expect_navigation():
        page.get_by_role("button", name="dark").click()
    assert set(page.evaluate("Object.keys(localStorage)")) == {"stActiveTheme-/-v2", "stActiveTheme-/cell-v2"}


@pytest.mark.browser
def test_without_storage_the_page_stays_as_it_is(page):
    page.set_content(
        shim.page((SOURCE, ThemeSwitchPicture(paths=PATHS, texts=TEXTS).packed()))
    )  # about:blank has no storage
    page.wait_for_function("window.ready")
    page.get_by_role("button", name="dark").click()
    assert page.evaluate("window.ready")


@pytest.mark.browser
def test_p_is_for_a_projector_and_the_tab_keeps_it(mount):
    page = mount()
    page.evaluate("addEventListener('resize', () => (window.resized = (window.resized ?? 0) + 1))")
    page.keyboard.press("p")
    assert page.evaluate("document.documentElement.dataset.projector") == "light"
    assert page.evaluate("window.resized") == 1
    assert page.evaluate("localStorage.length") == 0  # another tab is as it was
    page.reload()
    page.wait_for_function("window.ready")
    assert page.evaluate("document.documentElement.dataset.projector") == "light"
    page.get_by_role("button", name="leave projector").click()
    assert not page.evaluate("'projector' in document.documentElement.dataset")
    assert page.locator(".atlas-projector-leave").count() == 0


@pytest.mark.browser
def test_p_that_is_typed_is_a_letter(mount):
    page = mount()
    page.evaluate("document.body.append(document.createElement('input'))")
    page.locator("input").press("p")
    page.keyboard.press("Control+p")
    assert page.locator("input").input_value() == "p"
    assert not page.evaluate("'projector' in document.documentElement.dataset")
    page.get_by_role("button", name="projector", exact=True).press("Enter")
    assert page.evaluate("'projector' in document.documentElement.dataset")


@pytest.mark.browser
def test_a_presenters_buttons_step_only_for_a_projector_and_not_where_there_is_no_further(mount):
    page = mount()
    page.evaluate("""() => {
      document.body.classList.add("stMain")
      const hidden = document.body.appendChild(document.createElement("div")).attachShadow({ mode: "open" })
      for (const [root, way] of [[document.body, "back"], [hidden, "next"]]) {
        const button = document.createElement("button")
        button.dataset.step = way
        button.addEventListener("click", () => (window.steps = [...(window.steps ?? []), way]))
        root.append(button)
      }
      window.next = hidden.querySelector("button")
    }""")
    page.keyboard.press("PageDown")
    assert page.evaluate("window.steps") is None
    page.keyboard.press("p")
    for key in ("PageDown", "PageUp", "PageDown"):
        page.keyboard.press(key)
    page.evaluate("window.next.disabled = true")
    page.keyboard.press("PageDown")
    assert page.evaluate("window.steps") == ["next", "back", "next"]


@pytest.mark.browser
def test_a_presenters_buttons_turn_a_lesson_and_reveal_on_a_laptop_too(mount):
    page = mount()
    page.evaluate("""() => {
      const place = (name, key) => {
        const box = document.body.appendChild(document.createElement("div")), inside = document.createElement("div")
        const button = document.createElement("button")
        box.className = `st-key-${name}`
        inside.className = `st-key-${key}`
        button.addEventListener("click", () => (window.steps = [...(window.steps ?? []), key]))
        inside.append(button)
        box.append(inside)
        return box
      }
      window.steps = []
      place("lesson", "lesson_next")
      place("lesson", "lesson_back")
      window.instead = place("class_poll", "reveal")
      window.alone = place("lesson_asks", "lesson_skip")
      const slider = document.body.appendChild(document.createElement("input"))
      slider.type = "range"
      slider.max = 100
    }""")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")  # nothing that was revealed is hidden again
    page.evaluate("window.instead.remove()")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    page.evaluate("window.alone.remove()")
    page.keyboard.press("PageDown")
    assert page.evaluate("window.steps") == ["reveal", "lesson_skip", "lesson_back", "lesson_next"]
    page.locator("input").press("PageDown")  # which is the slider's there
    assert page.evaluate("window.steps.length") == 4
    assert page.locator("input").input_value() != "50"


MENUS = """() => {
  for (const name of ["tables", "files"]) {
    const button = document.body.appendChild(document.createElement("button"))
    button.dataset.testid = "stPopoverButton"
    button.id = name
    button.setAttribute("aria-expanded", "false")
  }
  window.opens = (name) => {
    document.getElementById(name).setAttribute("aria-expanded", "true")
    const menu = document.body.appendChild(document.createElement("div"))
    menu.dataset.testid = "stPopoverBody"
    menu.id = `menu of ${name}`
  }
  window.closes = (name) => {
    document.getElementById(name).setAttribute("aria-expanded", "false")
    document.getElementById(`menu of ${name}`).remove()
  }
}"""


@pytest.mark.browser
def test_a_menu_takes_the_keyboard_however_late_it_comes_and_whatever_other_is_still_there(mount):
    page = mount()
    page.clock.install()
    page.evaluate(MENUS)

    def focused():
        return page.evaluate("document.activeElement.id")

    page.locator("#tables").click()
    page.evaluate("opens('tables')")
    assert focused() == "menu of tables"
    page.clock.run_for(8000)
    page.locator("#files").click()
    page.clock.run_for(8000)  # the time of the menu before is over, and this one is not there
    page.evaluate("document.getElementById('files').setAttribute('aria-expanded', 'true')")
    page.evaluate("opens('files')")
    assert focused() == "menu of files"
    page.evaluate("closes('tables')")
    assert focused() == "menu of files"
    page.keyboard.press("Escape")
    assert focused() == "files"
    page.evaluate("closes('files')")
    page.locator("#tables").click()
    page.clock.run_for(20_000)  # not asked for any more
    page.locator("#files").focus()
    page.evaluate("opens('tables')")
    assert focused() == "files"
