"""FlashAttention's film under keys, mouse and time, in a browser and without a server."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.viz.components import shim
from tests.viz.components.clock import hold, wait
from tests.viz.components.mounted import answer, facts
from tests.viz.components.test_flash_film import film
from viz.components.flash_film.flash_film import SOURCE

pytestmark = pytest.mark.browser
WIDE = "section{max-width:1000px}"
LEAST = 20  # frames a second


def told(page, name):
    wait(page, 400)
    return [value for _name, event, value in page.evaluate("window.calls") if event == name]


def test_steps_go_on_and_back_and_the_bytes_grow(mount):
    page = mount(SOURCE, film(), style=WIDE)
    expect(page.locator(".happens")).to_contain_text("O = 0, m = −∞ and ℓ = 0 are written")
    first = facts(page)
    page.get_by_role("button", name="next").click()
    expect(page.locator(".happens")).to_contain_text("Read: K 0–2, V 0–2, Q 0–3, O 0–3, m 0–3, ℓ 0–3")
    later = facts(page)
    assert int(later["read"]) == 3 * 16 + 4 * 18
    assert later["written"] == first["written"] == str(10 * 10)
    page.get_by_role("button", name="next").click()
    expect(page.locator(".happens")).to_have_text("Computed in SRAM: queries 0–3 with keys 0–2.")
    page.get_by_role("button", name="one step back").click()
    assert facts(page)["frame"] == "1"
    assert told(page, "frame")[-1] == 1


def test_a_row_is_chosen_by_mouse_and_keys_and_ends_as_softmax(mount):
    page = mount(SOURCE, film(), style=WIDE)
    box = page.locator(".tiles").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 17 + 4.5 * (box["height"] - 34) / 10)
    assert facts(page)["row"] == "4"
    page.locator(".tiles").press("ArrowDown")
    page.locator(".tiles").press("End")
    found = facts(page)
    assert (found["row"], found["frame"]) == ("5", found["frames"])
    assert float(found["off"]) < 1e-12
    expect(page.locator(".row .note")).to_have_text("Its last tile is met: it is softmax.")
    assert page.locator(".row tbody tr").count() == 3  # of the last one it sees nothing, others of its block do
    assert told(page, "row")[-1] == 5


def test_tokens_are_numbered_as_in_the_text(mount):
    page = mount(SOURCE, film(first=100, frame=2), style=WIDE)
    expect(page.locator(".happens")).to_have_text("Computed in SRAM: queries 100–103 with keys 100–102.")
    expect(page.locator(".sram .list")).to_contain_text("K 100–102")
    expect(page.locator(".row .title")).to_contain_text("109")


def test_play_goes_to_the_end_and_rests_there(mount):
    page = mount(SOURCE, film(rows=10, columns=5), style=WIDE)
    hold(page)
    page.get_by_role("button", name="play").click()
    seen = set()
    for _ in range(14):
        page.clock.run_for(200)
        seen.add(page.locator(".flash-film").evaluate("root => root.dataset.frame"))
    assert seen == set("0123456")
    expect(page.get_by_role("button", name="play")).to_be_visible()
    page.clock.run_for(400)
    assert [value for _n, event, value in page.evaluate("window.calls") if event == "frame"] == [6]


def test_new_blocks_keep_the_film_within_its_frames_in_the_dark_and_on_a_phone(mount):
    page = mount(SOURCE, film(frame=20), width=390, height=844, theme=shim.DARK)
    assert facts(page)["frame"] == "20"
    answer(page, film(rows=10, columns=10, frame=20))
    found = facts(page)
    assert found["frame"] == found["frames"] == "3"


@pytest.mark.long
def test_the_largest_film_is_played_at_twenty_frames_a_second(mount):
    """256 tokens in the smallest tiles that its row table still shows; every frame draws all of the map."""
    page = mount(SOURCE, film(256, rows=4, columns=4, sram=512), style=WIDE)
    page.locator(".speed").select_option("60")
    page.get_by_role("button", name="play").click()
    wait(page, 500)
    before = facts(page)
    start = page.evaluate("performance.now()")
    wait(page, 2000)
    after, now = facts(page), page.evaluate("performance.now()")
    rate = 1000 * (int(after["frame"]) - int(before["frame"])) / (now - start)
    assert rate >= LEAST, f"{rate:.0f} frames a second"
