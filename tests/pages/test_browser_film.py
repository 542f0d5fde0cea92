"""The page Generation film in a real browser: it plays without asking, goes on when asked, and ends with its reader."""

from __future__ import annotations

import time

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.pages.visiting import (
    PATIENCE,
    address,
    eventually,
    expect_sentence,
    expect_tokens,
    text_box,
    visit,
    wait_for_heads,
    wait_for_rest,
)


def open_film(page: Page, server, **parts: str) -> Page:
    visit(page, server, "film", **parts)
    page.locator(".film[data-painted]").wait_for(timeout=PATIENCE)
    return page


def facts(page: Page) -> dict[str, str]:
    return page.locator(".film").evaluate("root => ({...root.dataset})")


def wait_for_frame(page: Page, frame: int) -> None:
    expect(page.locator(".film")).to_have_attribute("data-frame", str(frame), timeout=PATIENCE)


def drawn(page: Page) -> list[str]:
    return page.locator(".film .chip.drawn").all_inner_texts()


def play_to(page: Page, frame: int) -> None:
    page.locator(".film .speed").select_option("30")
    page.locator(".film .play").click()
    expect(page.locator(f".film .chip.drawn[data-frame='{frame}']:not(.ghost)")).to_be_visible(timeout=PATIENCE)


def test_a_film_plays_to_its_end_and_again_and_only_where_it_rests_is_told(page, server):
    sent: list[object] = []

    def hear(frame: object) -> None:
        sent.append(frame)

    page.on("websocket", lambda connection: connection.on("framesent", hear))
    open_film(page, server, length="12", seed="5")
    play_to(page, 12)
    expect(page.locator(".film")).to_have_attribute("data-playing", "false")
    page.wait_for_url(lambda url: address(url).get("film.steps") == "12", timeout=PATIENCE)
    wait_for_rest(page)
    before = len(sent)
    assert before > 0
    page.locator(".film .play").click()
    wait_for_frame(page, 12)
    slider = page.locator(".film .scrub")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    wait_for_frame(page, 7)
    page.keyboard.press("Home")
    page.locator(".film .chip.drawn").nth(3).click()
    wait_for_frame(page, 4)
    page.wait_for_url(lambda url: address(url).get("film.frame") == "4", timeout=PATIENCE)
    page.wait_for_timeout(700)  # a message that should not be would be sent within it
    assert before < len(sent) <= before + 3  # the end of the second playing, and frame 4; on a slow machine frame 7 too
    page.reload()
    wait_for_frame(page, 4)
    expect(page.locator(".film .chip.drawn")).to_have_count(12, timeout=PATIENCE)


@pytest.mark.long
def test_one_step_is_painted_soon(page, server):
    open_film(page, server, length="40", seed="1")  # of seed 0 the model ends after five
    times = page.evaluate(
        """async () => {
            const find = (node, name) => node.querySelector(name) ?? [...node.querySelectorAll("*")].map((one) =>
              one.shadowRoot && find(one.shadowRoot, name)).find(Boolean)
            const film = () => find(document, ".film") // drawn anew by a run of the page, perhaps between two steps
            const times = []
            for (let i = 0; i < 8; i++) {
              const began = performance.now()
              const before = film().dataset.frame
              film().querySelector(".step").click()
              while (film()?.dataset.frame === before) {
                if (performance.now() - began > 20_000) return [Infinity]
                await new Promise(requestAnimationFrame)
              }
              times.push(performance.now() - began)
              await new Promise((resolve) => setTimeout(resolve, 300))
            }
            return times.slice(2)
        }"""
    )
    # The aim of 200 ms is measured on a machine left alone; here it must only not be sluggish.
    assert sorted(times)[len(times) // 2] < 1000


@pytest.mark.long
def test_a_forced_token_branches_and_the_tree_leads_back(page, server):
    open_film(page, server, length="8", seed="1")
    play_to(page, 6)
    page.locator(".film .chip.drawn").nth(1).click()
    first = drawn(page)
    page.locator(".film .candidate:not(.chosen)").first.click()
    expect(page.locator(".film .chip.forced")).to_have_count(1, timeout=PATIENCE)
    wait_for_frame(page, 3)
    assert drawn(page)[:2] == first[:2]
    assert drawn(page)[2] != first[2]
    expect(page.locator(".token-tree")).to_be_visible()
    page.wait_for_url(lambda url: "film.forced" in address(url))


@pytest.mark.long
def test_the_text_opens_in_heads_and_the_generated_tokens_can_be_dropped(page, server):
    open_film(page, server, length="4", temperature="0")
    play_to(page, 4)
    words = drawn(page)
    page.get_by_role("button", name="Open in Heads").click()
    wait_for_heads(page)
    prompt = ("The", "·dog", "·chased", "·the", "·squirrel", "·because", "·it")
    expect_tokens(page, *prompt, *words)
    expect(text_box(page)).to_have_value("The dog chased the squirrel because it")
    expect(page.locator(".st-key-beside_text")).to_contain_text("+ 4 generated tokens")
    page.get_by_role("link", name="Generation film", exact=True).click()
    expect(page.locator(".film .chip.prompt")).to_have_count(len(prompt) + 1, timeout=PATIENCE)
    assert drawn(page) == words
    page.get_by_role("button", name="drop").click()
    expect(page.locator(".st-key-beside_text")).to_have_count(0)


def test_of_a_film_that_plays_the_frame_in_view_opens_in_heads(page, server):
    open_film(page, server, length="12", temperature="0")
    play_to(page, 12)
    page.locator(".film .speed").select_option("4")
    page.locator(".film .play").click()
    expect(page.locator(".film .chip.drawn[data-frame='3']:not(.ghost)")).to_be_visible()
    seen = page.locator(".film").evaluate(
        """(film) => {
            const drawn = film.querySelectorAll(".chip.drawn:not(.ghost)").length
            document.querySelector(".st-key-film_open button").click()
            return drawn
        }"""
    )
    assert seen < 12
    wait_for_heads(page)
    expect(page.locator(".st-key-beside_text")).to_contain_text(f"+ {seen} generated tokens")


@pytest.mark.long
def test_a_film_that_comes_to_rest_does_not_bring_back_a_reader_who_went_on(page, server):
    for meanwhile in (0, 278):  # milliseconds after a frame was chosen; at 300 it is told of itself
        open_film(page, server, length="4", temperature="0")
        play_to(page, 4)
        wait_for_rest(page)
        page.locator(".film .chip.drawn").first.evaluate(
            """(chip, meanwhile) => new Promise((done) => {
                chip.click()
                setTimeout(() => {
                    document.querySelector(".st-key-film_open button").click()
                    setTimeout(done, 800)
                }, meanwhile)
            })""",
            meanwhile,
        )
        wait_for_heads(page)
        expect(page.locator(".st-key-beside_text")).to_contain_text("+ 1 generated token")


@pytest.mark.long
def test_a_copied_address_shows_the_same_film(page, server, new_page):
    open_film(page, server, length="10", seed="3", top_p="0.8")
    play_to(page, 9)
    page.locator(".film .play").click() if facts(page)["playing"] == "true" else None
    wait_for_rest(page)
    words, _steps = eventually(
        page,
        lambda: (drawn(page), address(page.url).get("film.steps")),
        lambda found: str(len(found[0])) == found[1],
    )
    other = new_page()
    other.goto(page.url)
    eventually(other, lambda: drawn(other), lambda found: found == words)


@pytest.mark.long
def test_another_head_keeps_the_frame_that_is_shown(page, server):
    open_film(page, server, length="6")
    play_to(page, 5)
    page.locator(".film .chip.drawn").nth(2).click()
    before = page.locator(".film .axis .heading b").inner_text()
    box = page.locator(".film .axis canvas").bounding_box()
    page.mouse.click(box["x"] + 80, box["y"] + 160)
    expect(page.locator(".film .axis .heading b")).not_to_have_text(before, timeout=PATIENCE)
    assert facts(page)["frame"] == "3"
    page.wait_for_url(lambda url: "head" in address(url))


@pytest.mark.long
def test_a_closed_tab_leaves_the_model_to_the_others(new_page, server):
    mine, yours = new_page(), new_page()
    open_film(yours, server, length="5")
    open_film(mine, server, length="500", text="The old king")
    mine.locator(".film .speed").select_option("30")
    mine.locator(".film .play").click()
    expect(mine.locator(".film .chip.drawn[data-frame='4']:not(.ghost)")).to_be_visible(timeout=PATIENCE)
    mine.close()
    began = time.monotonic()
    yours.locator(".film .step").click()
    yours.locator(".film .step").click()
    expect(yours.locator(".film")).to_have_attribute("data-frame", "2", timeout=10_000)
    assert time.monotonic() - began < 10


@pytest.mark.long
def test_a_text_that_is_empty_says_so_and_the_film_comes_back(page, server):
    open_film(page, server)
    text_box(page).fill(" ")
    text_box(page).press("Control+Enter")
    expect_sentence(page, "There is no text to look at.")
    text_box(page).fill("The old king")
    text_box(page).press("Control+Enter")
    expect(page.locator(".film .chip.prompt")).to_have_count(4, timeout=PATIENCE)


@pytest.mark.long
def test_the_files_taken_away_hold_the_film_and_it_plays_offline(page, server, new_page, tmp_path):
    open_film(page, server, length="4", temperature="0", text="The <b>king</b>")
    play_to(page, 4)
    words = drawn(page)
    page.get_by_role("button", name="Export").click()
    for label in ("HTML", "SVG", "CSV", "NPZ"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label, exact=True).click()
        download.value.save_as(tmp_path / f"film.{label.lower()}")
    rows = (tmp_path / "film.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len([row for row in rows if not row.startswith("#")]) == 5
    with np.load(tmp_path / "film.npz") as arrays:
        assert arrays["ids"].shape == arrays["log_probabilities"].shape == (4,)
        assert arrays["attention_row"].sum() == pytest.approx(1, abs=1e-5)
        assert "Sampling(temperature=0.0)" in str(arrays["caption"])
    reader = new_page(offline=True)
    reader.goto((tmp_path / "film.svg").as_uri())
    reader.goto((tmp_path / "film.html").as_uri())
    reader.locator(".film[data-painted]").wait_for()
    reader.locator(".film .play").click()
    wait_for_frame(reader, 4)
    assert drawn(reader) == words


@pytest.mark.long
def test_the_numbers_are_there_as_tables(page, server):
    open_film(page, server, length="3")
    play_to(page, 3)
    page.get_by_role("button", name="As tables").click()
    menu = page.locator("[data-testid=stPopoverBody]")
    expect(menu).to_contain_text("Generated tokens", timeout=PATIENCE)
    expect(menu.locator("table").first.locator("tbody tr")).to_have_count(3)


def test_the_film_works_on_a_phone(new_page, server):
    page = new_page(viewport={"width": 390, "height": 844})
    open_film(page, server, length="5")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".film .step").click()
    wait_for_frame(page, 1)
